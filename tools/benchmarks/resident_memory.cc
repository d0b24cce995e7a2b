// SPDX-License-Identifier: MIT
// Reads /proc.
#include "tools/benchmarks/resident_memory.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace corolane::bench {

std::size_t resident_bytes_of(const std::string& process) {
  std::ifstream statm("/proc/" + process + "/statm");
  std::size_t total_pages = 0;
  std::size_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Measurement bytes_each(std::size_t bytes_before, std::size_t count) {
  return {.value =
              static_cast<double>(resident_bytes() - bytes_before) / static_cast<double>(count)};
}

Result<void> need_free_memory(std::size_t count, std::size_t bytes_each) {
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  std::string rest;
  while (meminfo >> name >> kilobytes && std::getline(meminfo, rest)) {
    if (name != "MemAvailable:" || kilobytes * 1024 >= count * bytes_each) continue;
    return Error(Code::resource_exhausted, "needs " +
                                               std::to_string(count * bytes_each / 1'000'000) +
                                               " MB of free memory, but the machine has " +
                                               std::to_string(kilobytes * 1024 / 1'000'000));
  }
  return {};
}

}  // namespace corolane::bench
