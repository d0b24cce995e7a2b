// SPDX-License-Identifier: MIT
#include "tools/corolane/dynamic_call.h"

#include <memory>

#include "rpc/client/client.h"
#include "rpc/stream.h"
#include "tools/corolane/method_search.h"
#include "tools/corolane/method_text.h"
#include "tools/corolane/remote_method.h"
#include "tools/corolane/remote_server.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {
namespace {

std::string text_of(const Error& error) {
  return error.to_string() + (error.maybe_executed() ? "\nThe call may have taken effect." : "");
}

Outcome call_method(rpc::Client& client, const rpc::MethodEntry& entry, RemoteTypes& types,
                    const DynamicCall& call) {
  const auto request = types.make(entry.request_type());
  const auto reply = types.make(entry.reply_type());
  if (!request) return failed("corolane: " + request.error().message());
  if (!reply) return failed("corolane: " + reply.error().message());
  // The messages of a stream are lines.
  std::string_view lines = call.request;
  const auto read_next = [&]() -> std::expected<void, Failure> {
    const std::size_t end = entry.client_streaming() ? lines.find('\n') : lines.npos;
    const std::string_view text = lines.substr(0, end);
    lines.remove_prefix(std::min(lines.size(), end == lines.npos ? end : end + 1));
    (*request)->Clear();
    if (auto read = read_json(text, **request); !read) {
      return std::unexpected(no_fit(read.error(), types, *(*request)->GetDescriptor()));
    }
    return {};
  };
  if (!entry.client_streaming()) {
    if (auto read = read_next(); !read) return std::unexpected(read.error());
  }

  const rpc::Method method = calling_side_of(entry, call.timeout);
  const rpc::ObjectTarget object = {.id = call.object ? *call.object : std::string_view()};
  const rpc::CallOptions options = {.object = call.object ? &object : nullptr};
  if (method.is_stream()) {
    rpc::StreamCall stream(client, method, **request, options);
    if (entry.client_streaming()) {
      bool is_open = true;
      while (is_open && !lines.empty()) {
        if (auto read = read_next(); !read) return std::unexpected(read.error());
        is_open = stream.write(**request);
      }
      stream.finish_writing();
    }
    if (!entry.server_streaming()) {
      const auto finished = stream.finish(**reply);
      return finished ? Outcome(to_json(**reply, JsonLayout::indented))
                      : failed(text_of(finished.error()));
    }
    while (stream.read(**reply)) call.print(to_json(**reply, JsonLayout::one_line));
    const auto finished = stream.finish();
    return finished ? Outcome("") : failed(text_of(finished.error()));
  }
  if (entry.one_way()) {
    const auto sent = client.notify(method, **request, options);
    return sent ? Outcome("") : failed(text_of(sent.error()));
  }
  if (auto called = client.call(method, **request, **reply, options); !called) {
    return failed(text_of(called.error()));
  }
  return to_json(**reply, JsonLayout::indented);
}

}  // namespace

Outcome run_dynamic_call(net::Network& network, const DynamicCall& call) {
  auto server = RemoteServer::connect(network, call.peer);
  if (!server) return std::unexpected(server.error());
  const auto method = server->find_method(call.method);
  if (!method) return std::unexpected(method.error());
  if (auto fits = check_object(*method, server->service_of(*method), call.object.has_value());
      !fits) {
    return std::unexpected(fits.error());
  }
  RemoteTypes types;
  if (auto described = server->describe(*method, types); !described) {
    return std::unexpected(described.error());
  }
  return call_method(server->client(), *method, types, call);
}

Outcome describe_remote_method(net::Network& network, const RemotePeer& peer,
                               const std::string& method) {
  auto server = RemoteServer::connect(network, peer);
  if (!server) return std::unexpected(server.error());
  const auto entry = server->find_method(method);
  if (!entry) return std::unexpected(entry.error());
  RemoteTypes types;
  if (auto described = server->describe(*entry, types); !described) {
    return std::unexpected(described.error());
  }
  const rpc::ServiceEntry& service = server->service_of(*entry);
  const std::string name = short_name(full_names(server->methods()), entry->full_name());
  const std::string address = to_string(net::Endpoint{peer.address.host, peer.address.port});
  const std::string object = service.object_state().empty() ? "" : " --object ID";
  const std::string command = "corolane call " + address + " " + name + object;
  const auto text = method_description(*entry, service, types, command);
  return text ? Outcome(*text) : failed("corolane: " + text.error().message());
}

Outcome list_remote_methods(net::Network& network, const RemotePeer& peer) {
  const auto server = RemoteServer::connect(network, peer);
  if (!server) return std::unexpected(server.error());
  return method_list(server->services());
}

Outcome list_method_names(net::Network& network, const RemotePeer& peer) {
  const auto server = RemoteServer::connect(network, peer);
  if (!server) return std::unexpected(server.error());
  const std::vector<std::string> names = full_names(server->methods());
  std::string text;
  for (const std::string& name : names) text += short_name(names, name) + "\t" + name + "\n";
  return text;
}

}  // namespace corolane::tools::cli
