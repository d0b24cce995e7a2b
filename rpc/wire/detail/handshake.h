// How a connection begins, as a computation without input or output.
//
//   client                       server
//   hello(nonce_c) ------------>
//                  <---------- hello(nonce_s)                    names the same cluster, or bye
//   auth(HMAC(key, "client", both hellos)) ->                    with a shared key only,
//                  <- auth(HMAC(key, "server", both hellos))     the client first
//
// What is proven covers both hellos, so that nobody in between can change one; both nonces, so that
// nothing can be replayed; and the role, so that nothing can be sent back to whoever computed it.
// The server answers no proof but a good one, so a stranger gets nothing to try keys on; and it
// names its cluster to nobody who has not named it first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "coroutine/base/result.h"
#include "net/crypto.h"
#include "rpc/security.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {

// Who a client is over all its connections.
struct Caller {
  std::string id;  // 16 bytes; empty for one whose calls need no order over connections.
  std::uint64_t connection = 0;
  std::string requester = {};  // Hello::requester; empty for one that says none.
};

class Handshake {
 public:
  enum class Role : std::uint8_t { client, server };

  // `security` outlives it. `caller` says who a client is; a server learns it.
  Handshake(Role role, const Security& security, Caller caller);

  // The message of our own hello.
  const std::string& hello() const { return own_hello_; }

  // Takes a frame of the peer. Returns the message of the auth to send now, if any. Fails with what
  // to tell the peer: unauthenticated, unimplemented for another version, invalid_argument.
  Result<std::optional<net::Digest>> take(const Frame& frame);

  // Says hello without having heard one.
  bool speaks_first() const { return role_ == Role::client; }
  // The peer has said its hello, and a good one.
  bool has_hello() const { return has_hello_; }
  // The peer is who it should be, and calls may come and go.
  bool is_done() const { return is_done_; }
  const Caller& caller() const { return caller_; }

 private:
  Result<std::optional<net::Digest>> take_hello(const Frame& frame);
  Result<std::optional<net::Digest>> take_auth(const Frame& frame);
  net::Digest proof_of(Role role) const;
  bool uses_key() const { return !security_.shared_key.empty(); }

  Role role_;
  const Security& security_;
  Caller caller_;
  std::string own_hello_;
  std::string peer_hello_;
  bool has_hello_ = false;
  bool is_done_ = false;
};

}  // namespace corolane::rpc::detail
