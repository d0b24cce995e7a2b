// One end of a TLS connection without a socket: takes what the peer sent, gives what it is to get.
//
// OpenSSL does the protocol. It reads straight from the bytes that are fed, and what it wants sent
// collects in `sealed`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/base/result.h"
#include "net/uv/detail/byte_buffer.h"

struct ssl_st;

namespace corolane::net::detail {

struct TlsSettings;
struct TlsShared;

class TlsSession {
 public:
  enum class Role : std::uint8_t { client, server };
  enum class Step : std::uint8_t {
    done,
    needs_input,  // All that was fed is used up.
    ended,        // The peer sends no more (close_notify).
    failed,       // See failure(). What explains it to the peer is in sealed().
  };

  // `sealed` borrows its memory from `shared`, which outlives the session.
  TlsSession(std::shared_ptr<const TlsSettings> settings, Role role, TlsShared& shared);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Of a client, first: who the server has to be, a host name or an IP address. Fails with
  // invalid_argument for what is neither.
  Result<void> expect(const std::string& name);

  // What came from the peer. Valid until a step needs input.
  void feed(std::span<const std::byte> bytes) { input_ = bytes; }

  Step shake_hands();
  // Reads at least one byte into `room`, unless it is not `done`.
  Step read(std::span<std::byte> room, std::size_t& count);
  // Fails only after another step has.
  void write(std::span<const std::byte> bytes);
  // Says that no more will be written.
  void finish();

  ByteBuffer& sealed() { return sealed_; }
  void release_sealed();

  const Error& failure() const { return *failure_; }
  // After the handshake. By its certificate: the first name (DNS or URI), otherwise the common
  // name; empty without.
  std::string peer_identity() const;
  std::string_view application_protocol() const;

  // For the BIO: where OpenSSL reads and writes.
  std::size_t take_input(std::span<std::byte> room);
  void put_sealed(std::span<const std::byte> bytes);
  // Whose certificate it is that is refused.
  void note_refused(std::string identity) { refused_identity_ = std::move(identity); }

 private:
  Step step_after(int result);
  Error read_failure() const;
  Error certificate_failure(long verdict) const;

  std::shared_ptr<const TlsSettings> settings_;
  TlsShared& shared_;
  ssl_st* ssl_;
  std::span<const std::byte> input_;
  ByteBuffer sealed_;
  std::optional<Error> failure_;
  std::string expected_name_;
  std::string refused_identity_;
};

}  // namespace corolane::net::detail
