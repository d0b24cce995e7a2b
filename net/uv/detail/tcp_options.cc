// SPDX-License-Identifier: MIT
#include "net/uv/detail/tcp_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>

#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

// A value above the kernel's range stays above it, and is refused.
int to_int(std::int64_t value) {
  return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

}  // namespace

Result<void> set_tcp_options(int descriptor, const StreamOptions& options,
                             std::string_view action) {
  struct Setting {
    int level;
    int option;
    std::int64_t value;
  };
  const bool asks = options.keepalive_idle.count() > 0;
  // Covers unacknowledged output, too. The kernel gives up a silent peer after this time, however
  // many probes are configured, so it is as long as all of them take.
  const std::chrono::milliseconds patience =
      asks ? options.keepalive_idle + options.keepalive_interval * options.keepalive_count
           : std::chrono::seconds(0);
  const auto hidden_bytes_max = static_cast<std::int64_t>(
      std::min(options.output_bytes_max, options.output_while_reading_max));
  const std::array<Setting, 7> settings{{
      // Small messages are collected here already, so the kernel must send them at once.
      {IPPROTO_TCP, TCP_NODELAY, 1},
      // Bytes that the kernel takes without sending them are hidden from our own mark: for a peer
      // that reads nothing it would first hoard megabytes. (Zero would select its own default.)
      {IPPROTO_TCP, TCP_NOTSENT_LOWAT, std::max<std::int64_t>(hidden_bytes_max, 1)},
      {SOL_SOCKET, SO_KEEPALIVE, asks ? 1 : 0},
      {IPPROTO_TCP, TCP_USER_TIMEOUT, patience.count()},
      {IPPROTO_TCP, TCP_KEEPIDLE, options.keepalive_idle.count()},
      {IPPROTO_TCP, TCP_KEEPINTVL, options.keepalive_interval.count()},
      {IPPROTO_TCP, TCP_KEEPCNT, options.keepalive_count},
  }};
  for (const Setting& setting : std::span(settings).first(asks ? 7 : 4)) {
    const int value = to_int(setting.value);
    if (::setsockopt(descriptor, setting.level, setting.option, &value, sizeof(value)) < 0) {
      return uv_error(-errno, action);
    }
  }
  return {};
}

}  // namespace corolane::net::detail
