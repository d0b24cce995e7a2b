// SPDX-License-Identifier: MIT
// How connections of the common protocols begin, and the words by which each of them understands
// that it is refused.
//
//   const auto bytes = net::bytes_of("GET / HTTP/1.1\r\n");
//   if (net::match_http(bytes) == net::Match::yes) std::cout << "a browser, or curl\n";
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace corolane::net {

// The verdict on the first bytes of a connection, for one protocol. `maybe`: the next byte may say
// more.
enum class Match : std::uint8_t { no, maybe, yes };

// A record of TLS (RFC 8446, 5.1): its type is a handshake; its version is 3.1 to 3.4.
Match match_tls(std::span<const std::byte> bytes);

// A request line of HTTP/1: a method of 3 to 20 letters and hyphens, and a space. Such is the
// preface of HTTP/2 as well.
Match match_http(std::span<const std::byte> bytes);

// A request of HTTP/1 that asks for a WebSocket (RFC 6455, 4.1): a GET with the header Upgrade. It
// may take the whole head of the request to say so, at most websocket_head_bytes_max; a longer one
// is not for a WebSocket.
Match match_websocket(std::span<const std::byte> bytes);
inline constexpr std::size_t websocket_head_bytes_max = 8 * 1024;

// The preface of HTTP/2, PRI * HTTP/2.0 (RFC 9113, 3.4), by its method.
Match match_http2(std::span<const std::byte> bytes);

// Answers to a peer that has begun to speak TLS, HTTP/1 or HTTP/2, after which the connection ends.
// TLS has only a number to say (an alert, handshake_failure). HTTP/2 is told to use HTTP/1.1.
std::string refusal_by_tls();
std::string refusal_by_http(std::string_view reason);
std::string refusal_by_http2(std::string_view reason);

}  // namespace corolane::net
