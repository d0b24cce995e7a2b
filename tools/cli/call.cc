#include "tools/cli/call.h"

#include <array>
#include <iostream>
#include <iterator>
#include <utility>

#include "config/units.h"
#include "net/endpoint.h"
#include "tools/cli/dynamic_call.h"
#include "tools/cli/on_network.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view help =
    R"(Usage: corolane call HOST:PORT SERVICE/METHOD [JSON] [--timeout DURATION]

Calls a method of a running node and prints its reply as JSON.

  SERVICE/METHOD       such as Chess/Look; with its package where several
                       services have that name
  JSON                 the request, {} when left out; - reads it from standard
                       input
  --timeout DURATION   how long to wait for the reply, such as 5s; otherwise as
                       long as the method allows
  --help               print this, and exit

  corolane call 127.0.0.1:8460 Chess/Look '{"game": "one"}'

The node tells what it serves and of what type: it needs no .proto files here.

Exit status: 0 answered, 1 no connection or the call failed, 2 wrong usage, an
unknown method or a request that does not fit it.
)";

constexpr auto options = std::to_array<OptionRule>({{.name = "--timeout", .has_value = true}});

std::string read_standard_input() {
  return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
}

Outcome run(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.size() < 2) return wrong_usage("call", "needs HOST:PORT and SERVICE/METHOD");
  if (words.size() > 3) return wrong_usage("call", "stray argument \"" + words[3] + "\"");

  DynamicCall call;
  if (auto peer = net::parse_host_port(words[0])) {
    call.peer = *peer;
  } else {
    return wrong_usage("call", peer.error().message());
  }
  call.method = words[1];
  if (words.size() == 3) call.request = words[2] == "-" ? read_standard_input() : words[2];
  if (const auto option = arguments.options.find("--timeout"); option != arguments.options.end()) {
    const auto timeout = config::parse_duration(option->second);
    if (!timeout) return wrong_usage("call", "--timeout: " + timeout.error().message());
    call.timeout = *timeout;
  }
  return run_on_network([&](net::Network& network) { return run_dynamic_call(network, call); });
}

}  // namespace

constexpr Command call_command = {
    .name = "call",
    .summary = "calls a method with JSON",
    .help = help,
    .options = options,
    .run = run,
};

}  // namespace corolane::tools::cli
