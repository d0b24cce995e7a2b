// SPDX-License-Identifier: MIT
// The handshake of a connection, as a computation without I/O.
//
//   client                       server
//   hello(nonce_c) ------------>
//                  <---------- hello(nonce_s)                    names the same cluster, or bye
//
// Each hello also says what its sender takes: the versions of the protocol (the server chooses the
// newest that both speak), and the size of a payload. With a shared key there follows
//
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

  // The part of a hello that its end decides.
  struct Own {
    // Hello::requester of a client; may be empty.
    std::string requester = {};
    // Hello::token of a client; may be empty.
    std::string token = {};
    // The largest payload that it takes.
    std::size_t payload_bytes_max = 0;
    // Hello::keeps_session, session and received_push of a client.
    bool keeps_session = false;
    std::string session = {};
    std::uint64_t received_push = 0;
    ProtocolVersions versions = {};
  };

  // `security` outlives it.
  Handshake(Role role, const Security& security, Own own);

  // The message of this end's hello, and the version for the header of its frame.
  const std::string& hello() const { return own_hello_; }
  std::uint64_t version() const { return version_; }
  std::size_t payload_bytes_max() const { return own_.payload_bytes_max; }

  // Takes a frame of the peer. Returns the message of the auth to send now, if any. Fails with the
  // error for the peer: unauthenticated, unimplemented for another version, invalid_argument.
  Result<std::optional<net::Digest>> take(const Frame& frame);

  // For a server that has read a hello, and has not sent its own: names the session.
  void set_session(const std::string& token, bool is_resumed);

  // Frees the texts of both hellos, among them the token. Called when the handshake is done.
  void forget_texts();

  // True for the end that says hello first.
  bool speaks_first() const { return role_ == Role::client; }
  // The peer has sent a valid hello.
  bool has_hello() const { return has_hello_; }
  // The peer is authenticated, and calls may begin.
  bool is_done() const { return is_done_; }
  // The requester of the client.
  const std::string& requester() const { return own_.requester; }
  // The token of the client.
  const std::string& token() const { return own_.token; }
  // What the hello of the client says of its session.
  bool keeps_session() const { return own_.keeps_session; }
  const std::string& session() const { return own_.session; }
  std::uint64_t received_push() const { return own_.received_push; }
  // At a client: what the hello of the server says of it.
  const std::string& given_session() const { return given_session_; }
  bool is_resumed() const { return is_resumed_; }
  // The largest payload that the peer takes; as large as a frame can be when it does not say.
  std::size_t peer_payload_bytes_max() const { return peer_payload_bytes_max_; }

 private:
  Result<std::optional<net::Digest>> take_hello(const Frame& frame);
  Result<std::optional<net::Digest>> take_auth(const Frame& frame);
  Result<void> agree_on_version(std::uint64_t oldest_of_client, std::uint64_t said);
  net::Digest proof_of(Role role) const;
  bool uses_key() const { return !security_.shared_key.empty(); }

  Role role_;
  const Security& security_;
  Own own_;
  std::uint64_t version_;  // The newest of this end, until both have agreed on one.
  std::size_t peer_payload_bytes_max_ = frame_payload_bytes_max;
  std::string own_hello_;
  std::string peer_hello_;
  std::string given_session_;
  bool is_resumed_ = false;
  bool has_hello_ = false;
  bool is_done_ = false;
};

}  // namespace corolane::rpc::detail
