// SPDX-License-Identifier: MIT
// A child prints the value and its other results, or exits with a status other than 0 and prints
// the reason.
#include "tools/benchmarks/child_process.h"

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "tools/benchmarks/process.h"

namespace corolane::bench {
namespace {

void print_measurement(const Measurement& measured) {
  std::printf("%.17g %.17g", measured.value, measured.allocations_per_op);
  if (const auto& traffic = measured.traffic) {
    std::printf(" %.17g %.17g %.17g", traffic->ops_per_second, traffic->p50_us, traffic->p99_us);
  }
  std::printf("\n");
}

int run_measure(const Measure& measure) {
  pin_to(Core::measured);
  std::feclearexcept(FE_ALL_EXCEPT);  // The state of a fresh program; see measurement.h.
  const Result<Measurement> measured = measure();
  if (measured) {
    print_measurement(*measured);
  } else {
    std::printf("%s\n", measured.error().message().c_str());
  }
  return measured ? EXIT_SUCCESS : EXIT_FAILURE;
}

Result<std::string> output_of_child(const Measure& measure) {
  auto child = Process::start([&] { return run_measure(measure); });
  return child ? child->finish() : Result<std::string>(child.error());
}

}  // namespace

Result<Measurement> measure_in_child(const Measure& measure) {
  auto text = output_of_child(measure);
  if (!text) return text.error();
  Measurement measured;
  std::istringstream numbers(*text);
  if (!(numbers >> measured.value)) {
    return Error(Code::internal, "printed \"" + *text + "\" instead of a number");
  }
  numbers >> measured.allocations_per_op;
  Traffic traffic;
  if (numbers >> traffic.ops_per_second >> traffic.p50_us >> traffic.p99_us) {
    measured.traffic = traffic;
  }
  return measured;
}

Measure program_measure(std::string program, std::vector<std::string> arguments) {
  return [program = std::move(program), arguments = std::move(arguments)] {
    return Result<Measurement>(become(program, arguments));
  };
}

Result<std::string> output_of(const std::string& program, std::vector<std::string> arguments) {
  return output_of_child(program_measure(program, std::move(arguments)));
}

}  // namespace corolane::bench
