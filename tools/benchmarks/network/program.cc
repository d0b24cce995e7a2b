// SPDX-License-Identifier: MIT
// Exchanges lines through the pipes of a process.
#include "tools/benchmarks/network/program.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "tools/benchmarks/process.h"

namespace corolane::bench {
namespace {

class Program final : public Generator {
 public:
  explicit Program(Process process) : process_(std::move(process)) {}

  Result<LoadOutcome> run(std::chrono::milliseconds time) override {
    if (auto asked = process_.write_line(std::to_string(time.count())); !asked) {
      return Error(asked.error()).with_context("the client");
    }
    const auto line = process_.read_line();
    if (!line) return Error(line.error()).with_context("the client");
    std::istringstream numbers(*line);
    std::uint64_t op_count = 0;
    std::int64_t elapsed = 0;
    std::int64_t p50 = 0;
    std::int64_t p99 = 0;
    if (!(numbers >> op_count >> elapsed >> p50 >> p99)) {
      return Error(Code::unavailable, "the client: " + *line);
    }
    return LoadOutcome{.op_count = op_count,
                       .elapsed = std::chrono::nanoseconds(elapsed),
                       .p50 = std::chrono::nanoseconds(p50),
                       .p99 = std::chrono::nanoseconds(p99)};
  }

 private:
  Process process_;
};

}  // namespace

Connect program_client(std::string program, Load load) {
  return forked_client([=](std::uint16_t port) {
    const Error problem =
        become(program, {"call", std::to_string(port), std::to_string(load.connection_count),
                         std::to_string(load.in_flight)});
    std::printf("%s\n", problem.message().c_str());
    return EXIT_FAILURE;
  });
}

Connect forked_client(std::function<int(std::uint16_t port)> client) {
  return [client = std::move(client)](std::uint16_t port) -> Result<std::unique_ptr<Generator>> {
    auto process = Process::start([&] {
      pin_to(Core::generator);
      return client(port);
    });
    if (!process) return process.error();
    return std::make_unique<Program>(std::move(*process));
  };
}

}  // namespace corolane::bench
