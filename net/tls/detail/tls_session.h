// SPDX-License-Identifier: MIT
// One end of a TLS connection without a socket: consumes the peer's bytes and produces its own.
//
// OpenSSL implements the protocol. It reads directly from the bytes that are fed, and its output
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
#include "net/detail/byte_buffer.h"

struct ssl_st;

namespace corolane::net::detail {

struct TlsSettings;
struct TlsShared;

class TlsSession {
 public:
  enum class Role : std::uint8_t { client, server };
  enum class Step : std::uint8_t {
    done,
    needs_input,  // All input is used up.
    ended,        // The peer sends no more (close_notify).
    failed,       // See failure(). sealed() holds the alert for the peer.
  };

  // `sealed` borrows its memory from `shared`, which outlives the session.
  TlsSession(std::shared_ptr<const TlsSettings> settings, Role role, TlsShared& shared);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // For a client, before the handshake: the required identity of the server, a host name or an IP
  // address. Fails with invalid_argument when it is neither.
  Result<void> expect(const std::string& name);

  // Passes input of the peer. It must stay valid until a step needs more.
  void feed(std::span<const std::byte> bytes) { input_ = bytes; }

  Step shake_hands();
  // When it returns `done`, it has read at least one byte into `room`.
  Step read(std::span<std::byte> room, std::size_t& count);
  // Fails only after another step has failed.
  void write(std::span<const std::byte> bytes);
  // Announces that no more will be written.
  void finish();

  ByteBuffer& sealed() { return sealed_; }
  void release_sealed();

  const Error& failure() const { return *failure_; }
  // Valid after the handshake. The peer's identity by its certificate: the first name (DNS or URI),
  // otherwise the common name; empty without a certificate.
  std::string peer_identity() const;

  // For the BIO: OpenSSL reads and writes here.
  std::size_t take_input(std::span<std::byte> room);
  void put_sealed(std::span<const std::byte> bytes);
  // Keeps the identity of a refused certificate.
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
