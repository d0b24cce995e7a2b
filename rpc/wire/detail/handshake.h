// SPDX-License-Identifier: MIT
// The handshake of a connection, as a computation without I/O.
//
//   client                       server
//   hello(nonce_c) ------------>
//                  <---------- hello(nonce_s)                    names the same cluster, or bye
//   auth(HMAC(key, "client", both hellos)) ->                    with a shared key only,
//                  <- auth(HMAC(key, "server", both hellos))     the client first
//
// The proof covers both hellos, so that no one in between can change one; both nonces, so that it
// cannot be replayed; and the role, so that it cannot be reflected to its sender. The server
// answers only a valid proof, so a stranger gets nothing to try keys on; and it names its cluster
// only to peers that have named it first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "coroutine/base/result.h"
#include "net/crypto.h"
#include "rpc/options.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {

class Handshake {
 public:
  enum class Role : std::uint8_t { client, server };

  // `security` outlives it. `requester` is Hello::requester of a client, and may be empty; a server
  // learns it from the hello.
  Handshake(Role role, const Security& security, std::string requester);

  // The message of this end's hello.
  const std::string& hello() const { return own_hello_; }

  // Takes a frame of the peer. Returns the message of the auth to send now, if any. Fails with the
  // error for the peer: unauthenticated, unimplemented for another version, invalid_argument.
  Result<std::optional<net::Digest>> take(const Frame& frame);

  // True for the end that says hello first.
  bool speaks_first() const { return role_ == Role::client; }
  // The peer has sent a valid hello.
  bool has_hello() const { return has_hello_; }
  // The peer is authenticated, and calls may begin.
  bool is_done() const { return is_done_; }
  const std::string& requester() const { return requester_; }

 private:
  Result<std::optional<net::Digest>> take_hello(const Frame& frame);
  Result<std::optional<net::Digest>> take_auth(const Frame& frame);
  net::Digest proof_of(Role role) const;
  bool uses_key() const { return !security_.shared_key.empty(); }

  Role role_;
  const Security& security_;
  std::string requester_;
  std::string own_hello_;
  std::string peer_hello_;
  bool has_hello_ = false;
  bool is_done_ = false;
};

}  // namespace corolane::rpc::detail
