// SPDX-License-Identifier: MIT
#include "tools/corolane/on_network.h"

#include <string>
#include <utility>

#include "coroutine/inspect/deadlock_stacks.h"
#include "coroutine/scheduler.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "tools/tls_option.h"

namespace corolane::tools::cli {

Outcome run_on_network(std::move_only_function<Outcome(net::Network& network)> body) {
  net::EventLoop loop;
  coroutine::show_stacks_of_deadlocks();
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  Outcome outcome;
  const auto ran = scheduler.run("corolane", [&] { outcome = body(network); });
  if (!ran) return failed("corolane: " + ran.error().to_string());
  return outcome;
}

Outcome run_on_network(const Arguments& arguments,
                       std::move_only_function<Outcome(net::Network& network)> body) {
  return run_on_network([&](net::Network& network) -> Outcome {
    auto call_network = CallNetwork::make(network, arguments);
    if (!call_network) return misused("corolane: " + call_network.error().message());
    return body(call_network->network());
  });
}

Failure no_connection(const Error& error, std::string_view key) {
  std::string message = "corolane: " + error.message();
  if (error.code() == Code::unavailable) {
    message += ": is the node running? start it, such as demo_node --config demo.yaml";
  } else if (error.code() == Code::deadline_exceeded) {
    // Shards that hang do not keep a node from answering here.
    message
        .append(": it has accepted, and does not answer: its process stands still, or that is no ")
        .append(key)
        .append("; ask another node of its cluster: corolane cluster HOST:PORT");
  } else if (error.code() != Code::not_found) {
    // A server is there but does not answer as expected.
    message.append(": is that the ").append(key).append(" of a node?");
  }
  return {Failure::Kind::failed, std::move(message)};
}

}  // namespace corolane::tools::cli
