// SPDX-License-Identifier: MIT
#include "tools/corolane/call.h"

#include <array>
#include <iostream>
#include <iterator>
#include <utility>

#include "config/units.h"
#include "tools/corolane/dynamic_call.h"
#include "tools/corolane/on_network.h"
#include "tools/corolane/remote_peer.h"
#include "tools/tls_option.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view call_help =
    R"(Usage: corolane call HOST:PORT [SERVICE/METHOD [JSON]] [--object ID]
                     [--timeout DURATION] [--describe | --names]
                     [--login FILE] [--tls FILE] [--websocket]

Calls a method of a running node and prints its reply as JSON; each message of
a stream is one line of JSON. Without JSON it describes the method; without a
method it lists all methods.

  SERVICE/METHOD       such as Chess/Look, Look or Ch/Lo: any part of the name
                       that is unique
  JSON                 the request; - reads it from standard input
  --object ID          the object to call, for a service of objects
  --timeout DURATION   how long to wait for the reply, such as 5s; by default
                       as long as the method allows
  --describe           describe the method, and call nothing
  --names              print the short and full names of all methods
  --login FILE         log in with the token in FILE, such as a JSON Web Token
  --tls FILE           use TLS; FILE has the CA certificate of the node, PEM
  --certificate FILE   the client certificate for a node that demands one, PEM
  --key FILE           the private key of the client certificate, PEM
  --websocket          connect by WebSocket, as browsers do
  --help               print this text

  corolane call 127.0.0.1:8460
  corolane call 127.0.0.1:8460 Chess/Look
  corolane call 127.0.0.1:8460 Chess/Look '{"game": "one"}'
  corolane call 127.0.0.1:8460 Counter/Add '{"amount": 1}' --object visits

The node describes its methods and types, so no .proto files are needed here.

Exit status: 0 success, 1 no connection or the call failed, 2 wrong usage, an
unknown method, or a request or --object that does not fit the method.
)";

constexpr auto call_options = std::to_array<OptionRule>({{.name = "--object", .has_value = true},
                                                         {.name = "--timeout", .has_value = true},
                                                         {.name = "--describe"},
                                                         {.name = "--names"},
                                                         login_option_rule,
                                                         tls_option_rules[0],
                                                         tls_option_rules[1],
                                                         tls_option_rules[2],
                                                         websocket_option_rule});

std::string read_standard_input() {
  return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
}

// Flushes each line: another program may read the stream and must not wait for its end.
void print_at_once(const std::string& line) { std::cout << line << std::flush; }

Outcome call(const Arguments& arguments, const RemotePeer& peer) {
  const auto& words = arguments.words;
  DynamicCall call = {.peer = peer,
                      .method = words[1],
                      .request = words[2],
                      .object = {},
                      .timeout = {},
                      .print = print_at_once};
  if (call.request == "-") call.request = read_standard_input();
  if (const auto option = arguments.options.find("--object"); option != arguments.options.end()) {
    call.object = option->second;
  }
  if (const auto option = arguments.options.find("--timeout"); option != arguments.options.end()) {
    const auto timeout = config::parse_duration(option->second);
    if (!timeout) return wrong_usage("call", "--timeout: " + timeout.error().message());
    call.timeout = *timeout;
  }
  return run_on_network(arguments,
                        [&](net::Network& network) { return run_dynamic_call(network, call); });
}

Outcome run_call(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("call", "needs HOST:PORT");
  if (words.size() > 3) return wrong_usage("call", "stray argument \"" + words[3] + "\"");
  const auto peer = remote_peer_of("call", arguments, words[0]);
  if (!peer) return std::unexpected(peer.error());
  if (arguments.has("--describe") && words.size() == 1) {
    return wrong_usage("call", "--describe needs SERVICE/METHOD");
  }

  const bool is_call = words.size() == 3 && !arguments.has("--describe");
  if (is_call && !arguments.has("--names")) return call(arguments, *peer);
  return run_on_network(arguments, [&](net::Network& network) {
    if (arguments.has("--names")) return list_method_names(network, *peer);
    return words.size() == 1 ? list_remote_methods(network, *peer)
                             : describe_remote_method(network, *peer, words[1]);
  });
}

}  // namespace

constexpr Command call_command = {
    .name = "call",
    .summary = "calls a method with JSON",
    .help = call_help,
    .options = call_options,
    .run = run_call,
    .word = WordKind::method,
};

}  // namespace corolane::tools::cli
