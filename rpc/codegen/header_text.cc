// X.corolane.h: an abstract class and a client for each service.
#include <set>
#include <string>
#include <vector>

#include "config/units.h"
#include "rpc/codegen/layout.h"
#include "rpc/codegen/method_options.h"
#include "rpc/codegen/promises.h"
#include "rpc/codegen/text.h"

namespace corolane::rpc::codegen {
namespace {

std::string handler_signature(const MethodModel& method) {
  const std::string result = method.is_unary() ? method.reply_type : "void";
  std::vector<std::string> arguments = {"const " + method.request_type + "& request"};
  if (method.is_streaming) {
    arguments.push_back("::corolane::rpc::Writer<" + method.reply_type + ">& out");
  }
  arguments.emplace_back("::corolane::rpc::Context& context");
  return signature(2, "virtual ::corolane::Result<" + result + ">", method.cpp_name,
                   std::move(arguments), " = 0;");
}

void print_base(Printer& printer, const ServiceModel& service, bool has_comments) {
  printer.Print("\n");
  printer.PrintRaw(comment_text(0, service.comment, ""));
  printer.Print(
      "class $service$Base : public ::corolane::rpc::Service {\n"
      " public:\n",
      "service", service.name);
  for (const MethodModel& method : service.methods) {
    printer.PrintRaw(comment_text(2, method.comment, promises_to_handlers(method)));
    printer.PrintRaw(handler_signature(method));
    printer.Print("\n");
  }
  printer.Print(
      "  const char* service_name() const final;\n"
      "  std::span<const ::corolane::rpc::Method> methods() const final;\n");
  if (has_comments) {
    printer.Print("  std::span<const ::corolane::rpc::SymbolComment> comments() const final;\n");
  }
  printer.Print("};\n");
}

std::string client_promise(const ServiceModel& service) {
  return "Calls " + service.name +
         " on a server. Each call suspends until it is answered: at most " +
         config::format_duration(timeout_default) +
         " where neither its method nor its options say otherwise.";
}

void print_client(Printer& printer, const ServiceModel& service) {
  printer.Print("\n");
  printer.PrintRaw(comment_text(0, service.comment, client_promise(service)));
  printer.Print(
      "class $service$Client {\n"
      " public:\n"
      "  // `client` outlives it.\n"
      "  explicit $service$Client(::corolane::rpc::Client& client) : client_(&client) {}\n",
      "service", service.name);
  for (const MethodModel& method : service.methods) {
    printer.Print("\n");
    printer.PrintRaw(comment_text(2, method.comment, promises_to_callers(method)));
    printer.PrintRaw(signature(
        2, method.client_result(), method.cpp_name,
        {"const " + method.request_type + "& request", "::corolane::rpc::CallOptions options = {}"},
        ";"));
  }
  printer.Print(
      "\n"
      " private:\n"
      "  ::corolane::rpc::Client* client_;\n"
      "};\n");
}

// What the declarations need, and nothing else.
std::set<std::string> includes_of(const FileModel& file) {
  std::set<std::string> includes = file.message_headers;
  includes.insert({"rpc/client.h", "rpc/service.h"});
  if (file.has_method([](const MethodModel&) { return true; })) {
    includes.insert({"coroutine/base/result.h", "rpc/context.h"});
  }
  if (file.has_method(&MethodModel::is_streaming)) includes.insert("rpc/stream.h");
  return includes;
}

}  // namespace

std::string header_text(const FileModel& file) {
  return printed([&](Printer& printer) {
    print_opening(printer, file);
    if (!file.services.empty()) {
      printer.Print("//\n");
      printer.PrintRaw(comment_text(
          0, file.comment,
          "A server implements XBase and is given it by rpc::Server::add(); a caller wraps an "
          "rpc::Client into an XClient."));
    }
    printer.Print("#pragma once\n");
    if (file.services.empty()) return;

    printer.Print("\n#include <span>\n\n");
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
