// X.corolane.h: an abstract class and a client for each service.
#include <set>
#include <string>
#include <vector>

#include "rpc/codegen/layout.h"
#include "rpc/codegen/text.h"

namespace corolane::rpc::codegen {
namespace {

void print_comment(Printer& printer, const std::string& indent,
                   const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    printer.Print("$indent$//$line$\n", "indent", indent, "line", line);
  }
}

void print_base(Printer& printer, const ServiceModel& service) {
  printer.Print("\n");
  print_comment(printer, "", service.comment);
  printer.Print(
      "class $service$Base : public ::corolane::rpc::Service {\n"
      " public:\n",
      "service", service.name);
  for (const MethodModel& method : service.methods) {
    print_comment(printer, "  ", method.comment);
    printer.PrintRaw(signature(
        2, "virtual ::corolane::Result<" + method.reply_type + ">", method.cpp_name,
        {"const " + method.request_type + "& request", "::corolane::rpc::Context& context"},
        " = 0;"));
    printer.Print("\n");
  }
  printer.Print(
      "  const char* service_name() const final;\n"
      "  std::span<const ::corolane::rpc::Method> methods() const final;\n"
      "};\n");
}

void print_client(Printer& printer, const ServiceModel& service) {
  printer.Print(
      "\n"
      "// Calls $service$ on a server. Suspends in each call until the reply is there.\n"
      "class $service$Client {\n"
      " public:\n"
      "  // `client` outlives it.\n"
      "  explicit $service$Client(::corolane::rpc::Client& client) : client_(&client) {}\n",
      "service", service.name);
  if (!service.methods.empty()) printer.Print("\n");
  for (const MethodModel& method : service.methods) {
    printer.PrintRaw(signature(
        2, "::corolane::Result<" + method.reply_type + ">", method.cpp_name,
        {"const " + method.request_type + "& request", "::corolane::rpc::CallOptions options = {}"},
        ";"));
  }
  printer.Print(
      "\n"
      " private:\n"
      "  ::corolane::rpc::Client* client_;\n"
      "};\n");
}

}  // namespace

std::string header_text(const FileModel& file) {
  return printed([&](Printer& printer) {
    print_opening(printer, file);
    printer.Print(
        "//\n"
        "// A server implements XBase and is given it by rpc::Server::add(); a caller wraps an\n"
        "// rpc::Client into an XClient.\n"
        "#pragma once\n"
        "\n"
        "#include <span>\n"
        "\n");
    std::set<std::string> includes = file.message_headers;
    includes.insert({"coroutine/base/result.h", "rpc/client.h", "rpc/context.h", "rpc/service.h"});
    for (const std::string& path : includes) {
      printer.Print("#include \"$path$\"\n", "path", path);
    }
    print_namespace_begin(printer, file);
    for (const ServiceModel& service : file.services) {
      print_base(printer, service);
      print_client(printer, service);
    }
    print_namespace_end(printer, file);
  });
}

}  // namespace corolane::rpc::codegen
