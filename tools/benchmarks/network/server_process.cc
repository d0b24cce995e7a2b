// SPDX-License-Identifier: MIT
// The server prints its port as a line; its CPU time is the kernel's clock of its process.
#include "tools/benchmarks/network/server_process.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "coroutine/base/check.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

// A counter that children share with this process. It is never freed: each measuring process
// measures one server and has one counter.
std::uint64_t* shared_counter() {
  void* const page = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(page);
}

}  // namespace

void Seat::announce(std::uint16_t port) {
  std::printf("%u\n", static_cast<unsigned>(port));
  std::fflush(stdout);
}

Serve program_server(std::string program, std::vector<std::string> arguments) {
  return [program = std::move(program), arguments = std::move(arguments)](const Seat&) {
    return become(program, arguments);
  };
}

Result<ServerProcess> ServerProcess::start(const Serve& serve) {
  std::uint64_t* const allocation_count = shared_counter();
  if (allocation_count == nullptr) return Error(Code::resource_exhausted, "no shared memory");
  auto process = Process::start([&] {
    pin_to(Core::measured);
    prctl(PR_SET_NAME, "bench_server");  // Names the server for a profiler of the whole machine.
    std::printf("%s\n", serve({.allocation_count = allocation_count}).message().c_str());
    return EXIT_FAILURE;
  });
  if (!process) return process.error();
  const auto line = process->read_line();
  if (!line) return Error(line.error()).with_context("the server");
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(line->data(), line->data() + line->size(), port);
  if (problem != std::errc() || end != line->data() + line->size() || port == 0) {
    return Error(Code::unavailable, "the server: " + *line);
  }
  return ServerProcess(std::move(*process), allocation_count, port);
}

std::chrono::nanoseconds ServerProcess::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  const bool known =
      clock_getcpuclockid(process_.id(), &clock) == 0 && clock_gettime(clock, &time) == 0;
  check(known, "an unreaped child has a clock, even when it has ended");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::size_t ServerProcess::resident_bytes() const {
  return resident_bytes_of(std::to_string(process_.id()));
}

}  // namespace corolane::bench
