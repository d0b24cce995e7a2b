#include "tools/cli/dynamic_call.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/stack_pool.h"
#include "rpc/client.h"
#include "rpc/frame.h"
#include "rpc/reflection.corolane.h"
#include "tools/cli/method_search.h"
#include "tools/cli/on_network.h"
#include "tools/cli/remote_types.h"

namespace corolane::tools::cli {
namespace {

// For connecting and for asking what there is, each.
constexpr std::chrono::seconds patience{5};

Failure no_reflection(const Error& error) {
  std::string message = "corolane: asked what it serves, the node said " + error.to_string();
  if (error.code() == Code::unimplemented) message += "; add an rpc::ReflectionService to it";
  return {Failure::Kind::failed, std::move(message)};
}

std::string text_of(const Error& error) {
  return error.to_string() + (error.maybe_executed() ? "\nThe call may have taken effect." : "");
}

using Methods = std::vector<rpc::MethodEntry>;

Methods methods_of(const rpc::ListServicesReply& reply) {
  Methods methods;
  for (const rpc::ServiceEntry& service : reply.services()) {
    std::ranges::copy(service.methods(), std::back_inserter(methods));
  }
  return methods;
}

std::expected<rpc::MethodEntry, Failure> choose_method(const Methods& methods,
                                                       const std::string& wanted) {
  std::vector<std::string> names;
  for (const rpc::MethodEntry& method : methods) names.push_back(method.full_name());
  const auto index = find_method(names, wanted);
  if (!index) return misused("corolane: " + index.error().message());
  return methods[*index];
}

Outcome call_method(rpc::Client& client, const rpc::MethodEntry& entry, RemoteTypes& types,
                    const DynamicCall& call) {
  const auto request = types.make(entry.request_type());
  const auto reply = types.make(entry.reply_type());
  if (!request) return failed("corolane: " + request.error().message());
  if (!reply) return failed("corolane: " + reply.error().message());
  if (auto read = read_json(call.request, **request); !read) {
    return misused("corolane: " + read.error().message());
  }

  const rpc::Method method = {
      .full_name = entry.full_name().c_str(),
      .id = rpc::method_id(entry.full_name()),
      .timeout = call.timeout.value_or(std::chrono::milliseconds(entry.timeout_ms())),
      .stack_size_bytes = coroutine::StackPool::stack_size_bytes_default,
      .new_request = nullptr,
      .invoke = nullptr,
  };
  if (auto called = client.call(method, **request, **reply); !called) {
    return failed(text_of(called.error()));
  }
  return to_json(**reply);
}

}  // namespace

Outcome run_dynamic_call(net::Network& network, const DynamicCall& call) {
  const auto client = rpc::Client::connect(network, call.peer, Deadline::after(patience));
  if (!client) return std::unexpected(no_connection(client.error(), "node.listen"));

  rpc::ReflectionClient reflection(**client);
  const auto services = reflection.list_services({}, {.deadline = Deadline::after(patience)});
  if (!services) return std::unexpected(no_reflection(services.error()));
  const auto method = choose_method(methods_of(*services), call.method);
  if (!method) return std::unexpected(method.error());

  rpc::DescribeRequest request;
  request.set_symbol(method->full_name().substr(0, method->full_name().find('/')));
  const auto described = reflection.describe(request, {.deadline = Deadline::after(patience)});
  if (!described) return std::unexpected(no_reflection(described.error()));
  RemoteTypes types;
  if (auto added = types.add(*described); !added)
    return failed("corolane: " + added.error().message());
  return call_method(**client, *method, types, call);
}

}  // namespace corolane::tools::cli
