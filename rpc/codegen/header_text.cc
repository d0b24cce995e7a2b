// SPDX-License-Identifier: MIT
// X.corolane.h: an abstract class and a client for each service.
#include <set>
#include <string>
#include <vector>

#include "config/units.h"
#include "rpc/codegen/fragments.h"
#include "rpc/codegen/method_options.h"
#include "rpc/codegen/promises.h"
#include "rpc/codegen/text.h"

namespace corolane::rpc::codegen {
namespace {

std::string handler_signature(const MethodModel& method) {
  const bool replies_once = method.is_unary() || method.is_upload();
  const std::string result = replies_once ? method.reply_type : "void";
  std::vector<std::string> arguments = {
      method.is_called_with_stream ? "::corolane::rpc::Requests<" + method.request_type + ">& in"
                                   : "const " + method.request_type + "& request"};
  if (method.is_streaming) {
    arguments.push_back("::corolane::rpc::Writer<" + method.reply_type + ">& out");
  }
  arguments.emplace_back("::corolane::rpc::Context& context");
  return signature(2, "virtual ::corolane::Result<" + result + ">", method.cpp_name, arguments,
                   method.is_read_only ? " const = 0;" : " = 0;");
}

std::string class_head(const ServiceModel& service) {
  const std::string begin = "class " + service.base_name() + "\n    : public ::corolane::";
  if (!service.is_object()) return begin + "rpc::Service {\n";
  if (!service.publishes()) return begin + "framework::Object<" + service.state_type + "> {\n";
  return begin + "framework::PublishingObject<" +
         joined({service.state_type, service.publication_type}, ", ") + "> {\n";
}

void print_base(Printer& printer, const ServiceModel& service, bool has_comments) {
  printer.Print("\n");
  printer.PrintRaw(comment_text(0, service.comment, {}));
  printer.PrintRaw(class_head(service));
  printer.Print(" public:\n");
  for (const MethodModel& method : service.methods) {
    printer.PrintRaw(comment_text(2, method.comment, promises_to_handlers(method)));
    printer.PrintRaw(handler_signature(method));
    printer.Print("\n");
  }
  if (service.is_object()) {
    printer.Print("  static ::corolane::framework::ObjectType object_type();\n");
  }
  printer.Print(
      "  const char* service_name() const final;\n"
      "  std::span<const ::corolane::rpc::Method> methods() const final;\n");
  if (has_comments) {
    printer.Print("  std::span<const ::corolane::rpc::SymbolComment> comments() const final;\n");
  }
  printer.Print("};\n");
}

Sentences client_promise(const ServiceModel& service) {
  return {
      "Calls " + (service.is_object() ? "the " + service.name + " with an id, wherever it lives."
                                      : service.name + " on a server."),
      "Each call suspends until it is answered, for at most " +
          config::format_duration(timeout_default) + ",",
      "unless its method or its options say otherwise."};
}

void print_client(Printer& printer, const ServiceModel& service) {
  printer.Print("\n");
  printer.PrintRaw(comment_text(0, service.comment, client_promise(service)));
  printer.Print("class $service$Client {\n public:\n", "service", service.name);
  if (service.is_object()) {
    printer.Print("  // `router` outlives it.\n");
    printer.Print(
        "  $service$Client(::corolane::framework::Router& router, std::string id)\n"
        "      : router_(&router), id_(std::move(id)) {}\n",
        "service", service.name);
  } else {
    printer.Print(
        "  // `client` outlives it.\n"
        "  explicit $service$Client(::corolane::rpc::Client& client) : client_(&client) {}\n",
        "service", service.name);
  }
  for (const MethodModel& method : service.methods) {
    printer.Print("\n");
    printer.PrintRaw(comment_text(2, method.comment, promises_to_callers(method)));
    std::vector<std::string> parameters = method.client_parameters();
    parameters.back() += " = {}";
    printer.PrintRaw(
        signature(2, method.client_result(service.is_object()), method.cpp_name, parameters, ";"));
  }
  if (service.publishes()) {
    printer.Print("\n");
    printer.Print(
        "  // Subscribes to what it publishes from now on, wherever it lives: next() returns one\n"
        "  // message after the other. Never suspends.\n"
        "  $subscription$ subscribe() const;\n",
        "subscription", service.subscription_type());
  }
  printer.Print("\n private:\n");
  if (service.is_object()) {
    printer.Print(
        "  ::corolane::framework::Router* router_;\n"
        "  std::string id_;\n");
  } else {
    printer.Print("  ::corolane::rpc::Client* client_;\n");
  }
  printer.Print("};\n");
}

// Only the headers that the declarations need.
std::set<std::string> includes_of(const FileModel& file) {
  std::set<std::string> includes = file.message_headers;
  includes.insert("rpc/service.h");
  if (file.has_plain_services()) includes.insert("rpc/client/client.h");
  if (file.has_objects())
    includes.insert({"framework/objects/object.h", "framework/routing/router.h"});
  if (file.has_publishing_objects()) {
    includes.insert({"framework/objects/publishing_object.h", "framework/push/subscription.h"});
  }
  if (file.has_method([](const MethodModel&) { return true; })) {
    includes.insert({"coroutine/base/result.h", "rpc/context.h"});
  }
  if (file.has_streaming_objects()) includes.insert("framework/routing/object_reader.h");
  if (file.has_method([](const MethodModel& method) {
        return method.is_streaming || method.is_called_with_stream;
      })) {
    includes.insert("rpc/stream.h");
  }
  return includes;
}

Sentences ways_of_use(const FileModel& file) {
  Sentences sentences;
  if (file.has_plain_services()) {
    sentences.insert(sentences.end(),
                     {"A server implements XBase and registers it with rpc::Server::add();",
                      "a caller wraps an rpc::Client in an XClient."});
  }
  if (file.has_objects()) {
    sentences.insert(sentences.end(),
                     {"A node implements XObject and registers it with framework::Node::host();",
                      "a caller gives the id of the object to an XClient."});
  }
  return sentences;
}

}  // namespace

std::string header_text(const FileModel& file) {
  return printed([&](Printer& printer) {
    print_opening(printer, file);
    if (!file.services.empty()) {
      printer.Print("//\n");
      printer.PrintRaw(comment_text(0, file.comment, ways_of_use(file)));
    }
    printer.Print("#pragma once\n");
    if (file.services.empty()) return;

    printer.Print("\n#include <span>\n");
    if (file.has_objects()) printer.Print("#include <string>\n#include <utility>\n");
    printer.Print("\n");
    for (const std::string& path : includes_of(file)) {
      printer.Print("#include \"$path$\"\n", "path", path);
    }
    print_namespace_begin(printer, file);
    for (const ServiceModel& service : file.services) {
      print_base(printer, service, !file.symbol_comments.empty());
      print_client(printer, service);
    }
    print_namespace_end(printer, file);
  });
}

}  // namespace corolane::rpc::codegen
