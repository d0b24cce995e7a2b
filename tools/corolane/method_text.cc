// SPDX-License-Identifier: MIT
#include "tools/corolane/method_text.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "config/units.h"
#include "coroutine/base/text.h"
#include "tools/corolane/message_text.h"

namespace corolane::tools::cli {
namespace {

// Omits the package of the type when it is the package of the service.
std::string near_name(const std::string& type, const std::string& service) {
  const std::string package = service.substr(0, service.rfind('.') + 1);
  return !package.empty() && type.starts_with(package) ? type.substr(package.size()) : type;
}

std::string list_line(const rpc::MethodEntry& method, const std::string& service) {
  const std::string name = method.full_name().substr(method.full_name().find('/') + 1);
  std::string line = "  " + name + (method.client_streaming() ? " (stream " : " (") +
                     near_name(method.request_type(), service) + ")";
  if (method.one_way()) return line + " one-way\n";
  line += method.server_streaming() ? " returns (stream " : " returns (";
  return line + near_name(method.reply_type(), service) + ")\n";
}

std::string indented(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = escaped(text.substr(0, end));
    result += line.empty() ? "\n" : "  " + line + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

// The guarantees of a method, one sentence per line.
std::string promises(const rpc::MethodEntry& method, const rpc::ServiceEntry& service) {
  const std::string timeout =
      config::format_duration(std::chrono::milliseconds(method.timeout_ms()));
  std::string text;
  if (!service.object_state().empty()) {
    text += "  A method of objects: --object names one. Its state is a " + service.object_state() +
            ".\n";
  }
  if (method.client_streaming()) {
    text += "  Is called with a stream: one line of JSON for each message.\n";
  }
  if (method.server_streaming()) text += "  Returns a stream: one line of JSON for each message.\n";
  text += method.one_way() ? "  One-way: sent, and never answered.\n"
                           : "  Times out after " + timeout + " unless --timeout says otherwise.\n";
  if (method.durable()) text += "  Durable: replies after its changes are stored.\n";
  if (method.read_only()) text += "  Read-only: does not change the object.\n";
  if (method.idempotent())
    text += "  Idempotent: calling it twice has the effect of calling it once.\n";
  if (method.priority() == "control") text += "  An overloaded server refuses it last.\n";
  if (method.priority() == "login")
    text += "  An overloaded server refuses it before calls in a session.\n";
  if (method.priority() == "background") text += "  An overloaded server refuses it first.\n";
  if (method.public_()) text += "  Public: clients may call it.\n";
  return text;
}

// True for services that every node has.
bool is_of_every_node(const rpc::ServiceEntry& service) {
  return service.name().starts_with("corolane.framework.") ||
         service.name().starts_with("corolane.rpc.");
}

std::string service_list(const rpc::ServiceEntry& service) {
  std::string text = service.name();
  if (!service.object_state().empty()) text += ": objects of " + service.object_state();
  text += "\n";
  for (const rpc::MethodEntry& method : service.methods()) {
    text += list_line(method, service.name());
  }
  return text;
}

}  // namespace

std::string method_list(const rpc::ListServicesReply& services) {
  std::string own;
  std::string others;
  for (const rpc::ServiceEntry& service : services.services()) {
    std::string& text = is_of_every_node(service) ? others : own;
    text += (text.empty() ? "" : "\n") + service_list(service);
  }
  return own + (own.empty() || others.empty() ? "" : "\n") + others;
}

Result<std::string> method_description(const rpc::MethodEntry& method,
                                       const rpc::ServiceEntry& service, const RemoteTypes& types,
                                       const std::string& command) {
  const auto request = types.find(method.request_type());
  const auto reply = types.find(method.reply_type());
  if (!request) return request.error();
  if (!reply) return reply.error();

  std::string symbol = method.full_name();
  std::ranges::replace(symbol, '/', '.');
  const std::string comment = indented(types.comment(symbol));
  std::string text = method.full_name() + "\n";
  if (!comment.empty()) text += comment + "\n";
  text += promises(method, service);

  FieldsText fields(types);
  const std::string requests = method.client_streaming() ? "stream of " : "";
  text += "\nRequest, " + requests + method.request_type() + ":\n" + fields.of(**request);
  if (!method.one_way()) {
    const std::string stream = method.server_streaming() ? "stream of " : "";
    text += "\nReply, " + stream + method.reply_type() + ":\n" + fields.of(**reply);
  }
  text += "\n" + command + " '" + example_json(**request) + "'\n";
  return text;
}

}  // namespace corolane::tools::cli
