// SPDX-License-Identifier: MIT
// Clients that cost a server as much as they can, in processes of their own: the limit of
// descriptors is per process.
#pragma once

#include <cstdint>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/process.h"

namespace corolane::bench {

enum class Abuse : std::uint8_t {
  none,
  // 20,000 connections that send no hello, or half of one. They exceed the limit of connections of
  // the server, which has to refuse some.
  half_open,
  // 1,000 connections that send as many requests as they can, and never read a reply.
  never_reading,
  // 20,000 connections that ask for 120 KB each, and read half a kilobyte every four seconds.
  slow_readers,
  // 10,000 connections from one address that make 2,500 calls per second.
  one_address,
  // 20,000 connections that send half of the first message of TLS.
  half_tls,
  // 1,000 connections that send as many requests by HTTP as they can, and never read an answer; and
  // 10,000 that send half a header.
  http_flood,
};

// Starts the abusers, and blocks until all of them are connected and stuck, or in their rhythm.
// They keep it up until their processes are destroyed.
Result<std::vector<Process>> begin(Abuse abuse, std::uint16_t port);

}  // namespace corolane::bench
