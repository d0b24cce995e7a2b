// SPDX-License-Identifier: MIT
#include "rpc/wire/detail/handshake.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc::detail {
namespace {

// Fewer bytes could be guessed; more add nothing.
constexpr std::size_t requester_size_min = 16;
constexpr std::size_t requester_size_max = 32;

Error unauthenticated(std::string message) {
  return Error(Code::unauthenticated, std::move(message));
}

std::string quoted(const std::string& name) {
  return name.empty() ? "no cluster" : "\"" + name + "\"";
}

// Repeats the peer's cluster and never names our own: the peer may be a stranger.
Error other_cluster(const std::string& of_peer) {
  return unauthenticated("the hello names " + quoted(of_peer) +
                         ", and this end another cluster: both ends have to name the same cluster");
}

std::string versions_text(std::uint64_t oldest, std::uint64_t newest) {
  if (oldest == newest) return "version " + std::to_string(newest);
  return "versions " + std::to_string(oldest) + " to " + std::to_string(newest);
}

// Little-endian; the prefix makes the boundary between two adjacent texts unambiguous.
std::string size_prefix(const std::string& text) {
  std::string prefix;
  for (std::size_t rest = text.size(), i = 0; i < 4; ++i, rest >>= 8) {
    prefix += static_cast<char>(rest & 0xff);
  }
  return prefix;
}

}  // namespace

Handshake::Handshake(Role role, const Security& security, Own own)
    : role_(role), security_(security), own_(std::move(own)), version_(own_.versions.newest) {
  Hello hello;
  hello.set_cluster(security_.cluster);
  hello.set_requester(own_.requester);
  hello.set_token(own_.token);
  hello.set_payload_bytes_max(
      static_cast<std::uint32_t>(std::min(own_.payload_bytes_max, frame_payload_bytes_max)));
  if (role_ == Role::client) {
    hello.set_oldest_version(own_.versions.oldest);
    hello.set_keeps_session(own_.keeps_session);
    hello.set_session(own_.session);
    hello.set_received_push(own_.received_push);
  }
  if (uses_key()) {
    net::Digest nonce;
    net::fill_with_random_bytes(nonce);
    hello.set_nonce(nonce.data(), nonce.size());
  }
  own_hello_ = hello.SerializeAsString();
}

void Handshake::set_session(const std::string& token, bool is_resumed) {
  Hello hello;
  check(hello.ParseFromString(own_hello_), "a hello of our own is valid");
  hello.set_session(token);
  hello.set_is_resumed(is_resumed);
  own_hello_ = hello.SerializeAsString();
}

void Handshake::forget_texts() {
  // An assignment of an empty text would keep the memory.
  for (std::string* const text : {&own_hello_, &peer_hello_, &own_.token, &own_.session}) {
    std::string().swap(*text);
  }
}

Result<std::optional<net::Digest>> Handshake::take(const Frame& frame) {
  const bool expects_auth = has_hello_;
  if (frame.header.type != (expects_auth ? FrameType::auth : FrameType::hello)) {
    return unauthenticated(expects_auth ? "a frame arrived before the proof of the shared key"
                                        : "the first frame is no hello of corolane");
  }
  return expects_auth ? take_auth(frame) : take_hello(frame);
}

Result<std::optional<net::Digest>> Handshake::take_hello(const Frame& frame) {
  if (frame.header.call_id != hello_magic) {
    return unauthenticated("the first frame is no hello of corolane");
  }
  peer_hello_ = text_of(frame);
  Hello hello;
  if (!hello.ParseFromString(peer_hello_)) {
    return Error(Code::invalid_argument, "the hello cannot be parsed");
  }
  if (auto agreed = agree_on_version(hello.oldest_version(), frame.header.method_id); !agreed) {
    return std::move(agreed.error());
  }
  if (hello.cluster() != security_.cluster) {
    return other_cluster(hello.cluster());
  }
  const std::size_t requester_size = hello.requester().size();
  if (requester_size != 0 &&
      (requester_size < requester_size_min || requester_size > requester_size_max)) {
    return Error(Code::invalid_argument, "the requester of a hello has 16 to 32 bytes");
  }
  if (uses_key() != !hello.nonce().empty()) {
    return unauthenticated(uses_key() ? "a shared key is required here, and the peer has none"
                                      : "the peer requires a shared key, and there is none here");
  }
  if (uses_key() && hello.nonce().size() != sizeof(net::Digest)) {
    return Error(Code::invalid_argument, "the nonce of a hello has 32 bytes");
  }
  if (hello.payload_bytes_max() != 0) peer_payload_bytes_max_ = hello.payload_bytes_max();
  if (role_ == Role::server) {
    own_.requester = hello.requester();
    own_.token = hello.token();
    own_.keeps_session = hello.keeps_session();
    own_.session = hello.session();
    own_.received_push = hello.received_push();
  } else {
    given_session_ = hello.session();
    is_resumed_ = hello.is_resumed();
  }
  has_hello_ = true;
  is_done_ = !uses_key();
  if (uses_key() && role_ == Role::client) return proof_of(Role::client);
  return std::optional<net::Digest>();
}

// The server chooses: the newest version that both speak.
Result<void> Handshake::agree_on_version(std::uint64_t oldest_of_client, std::uint64_t said) {
  const ProtocolVersions& own = own_.versions;
  const bool chooses = role_ == Role::server;
  const std::uint64_t oldest = chooses && oldest_of_client != 0 ? oldest_of_client : said;
  version_ = chooses ? std::min(said, own.newest) : said;
  if (version_ >= own.oldest && version_ >= oldest && version_ <= own.newest) return {};
  return Error(Code::unimplemented, "the peer speaks " + versions_text(oldest, said) +
                                        " of the protocol, and this end " +
                                        versions_text(own.oldest, own.newest));
}

Result<std::optional<net::Digest>> Handshake::take_auth(const Frame& frame) {
  const Role peer = role_ == Role::client ? Role::server : Role::client;
  if (!net::equal_in_constant_time(frame.message, proof_of(peer))) {
    return unauthenticated("the peer has a different shared key");
  }
  is_done_ = true;
  if (role_ == Role::server) return proof_of(Role::server);
  return std::optional<net::Digest>();
}

net::Digest Handshake::proof_of(Role role) const {
  const std::string& client_hello = role_ == Role::client ? own_hello_ : peer_hello_;
  const std::string& server_hello = role_ == Role::client ? peer_hello_ : own_hello_;
  return net::hmac_sha256(
      security_.shared_key,
      {role == Role::client ? "corolane client 1" : "corolane server 1", size_prefix(client_hello),
       client_hello, size_prefix(server_hello), server_hello});
}

}  // namespace corolane::rpc::detail
