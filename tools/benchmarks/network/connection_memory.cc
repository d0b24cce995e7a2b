// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/connection_memory.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "net/descriptor_limit.h"
#include "tools/benchmarks/network/crowd.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

// Of a server and its clients: what each connection takes at both ends at most, and in the kernel.
constexpr std::size_t need_bytes = 30'000;

constexpr std::size_t other_descriptors = 500;

// The number behind `name` in a file of /proc; 0 when it is not there.
std::size_t number_in(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::size_t number = 0;
    if (word == name && file >> number) return number;
  }
  return 0;
}

std::size_t kernel_bytes() {
  constexpr std::size_t kibibyte = 1'024;
  // "TCP: inuse 5 orphan 0 tw 0 alloc 5 mem 1", in pages.
  const std::size_t socket_pages = number_in("/proc/net/sockstat", "mem");
  return number_in("/proc/meminfo", "Slab:") * kibibyte +
         socket_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t bytes_of(MemoryOf what, const std::vector<ServerProcess>& servers) {
  if (what == MemoryOf::kernel) return kernel_bytes();
  std::size_t bytes = 0;
  for (const ServerProcess& server : servers) bytes += server.resident_bytes();
  return bytes;
}

}  // namespace

std::size_t connections_per_process() {
  const std::size_t limit = net::raise_descriptor_limit();
  return limit > 2 * other_descriptors ? limit - other_descriptors : limit / 2;
}

std::size_t servers_needed(std::size_t connection_count) {
  const std::size_t each = connections_per_process();
  return (connection_count + each - 1) / each;
}

Measure connection_memory(MemoryOf what, Serve serve, MakeTalk make_talk,
                          std::size_t connection_count) {
  return [=]() -> Result<Measurement> {
    if (auto enough = need_free_memory(connection_count, need_bytes); !enough) {
      return enough.error();
    }
    const std::size_t server_count = servers_needed(connection_count);
    std::vector<ServerProcess> servers;
    for (std::size_t number = 0; number < server_count; ++number) {
      auto server = ServerProcess::start(serve);
      if (!server) return server.error();
      servers.push_back(std::move(*server));
    }
    const std::size_t before = bytes_of(what, servers);
    std::vector<DistantCrowd> crowds;
    std::size_t left = connection_count;
    for (const ServerProcess& server : servers) {
      const std::size_t part = left / (servers.size() - crowds.size());
      left -= part;
      auto crowd = DistantCrowd::start(server.port(), make_talk, part);
      if (!crowd) return crowd.error();
      crowds.push_back(std::move(*crowd));
    }
    const std::size_t after = bytes_of(what, servers);
    for (DistantCrowd& crowd : crowds) {
      if (auto well = crowd.check(); !well) return well.error();
    }
    return Measurement{.value = (static_cast<double>(after) - static_cast<double>(before)) /
                                static_cast<double>(connection_count)};
  };
}

}  // namespace corolane::bench
