// X.corolane.cc: the table of methods of each service, and what both classes make of it.
#include <chrono>
#include <cstddef>
#include <string>

#include "rpc/codegen/layout.h"
#include "rpc/codegen/text.h"

namespace corolane::rpc::codegen {
namespace {

// In the largest unit that divides it: "std::chrono::seconds(60)".
std::string duration_text(Duration duration) {
  struct Unit {
    const char* name;
    Duration size;
  };
  for (const Unit& unit : {Unit{"seconds", std::chrono::seconds(1)},
                           Unit{"milliseconds", std::chrono::milliseconds(1)}}) {
    if (duration % unit.size != Duration::zero()) continue;
    return std::string("std::chrono::") + unit.name + "(" + std::to_string(duration / unit.size) +
           ")";
  }
  return "std::chrono::nanoseconds(" + std::to_string(duration.count()) + ")";
}

std::string size_text(std::size_t size_bytes) {
  if (size_bytes % 1024 == 0) return std::to_string(size_bytes / 1024) + " * 1024";
  return std::to_string(size_bytes);
}

void print_table(Printer& printer, const ServiceModel& service) {
  printer.Print(
      "\n"
      "constexpr std::array<::corolane::rpc::Method, $count$> methods_of_$service$ = {{\n",
      "count", std::to_string(service.methods.size()), "service", service.name);
  for (const MethodModel& method : service.methods) {
    printer.Print(
        "    {\n"
        "        .full_name = \"$full_name$\",\n"
        "        .id = ::corolane::rpc::method_id(\"$full_name$\"),\n"
        "        .timeout = $timeout$,\n"
        "        .stack_size_bytes = $stack_size$,\n"
        "        .new_request = new_request<$request$>,\n"
        "        .invoke = invoke<$service$Base, $request$, &$service$Base::$method$>,\n"
        "    },\n",
        "full_name", method.full_name, "timeout", duration_text(method.timeout), "stack_size",
        size_text(method.stack_size_bytes), "request", method.request_type, "service", service.name,
        "method", method.cpp_name);
  }
  printer.Print("}};\n");
}

// What all tables of the file point to.
void print_entries(Printer& printer) {
  printer.Print(
      "namespace {\n"
      "\n"
      "template <typename Request>\n"
      "::google::protobuf::Message* new_request(::google::protobuf::Arena& arena) {\n"
      "  return ::google::protobuf::Arena::CreateMessage<Request>(&arena);\n"
      "}\n"
      "\n"
      "template <typename Base, typename Request, auto handler>\n"
      "::corolane::Result<void> invoke(::corolane::rpc::Service& service,\n"
      "                                const ::google::protobuf::Message& request,\n"
      "                                ::corolane::rpc::Context& context,\n"
      "                                ::corolane::rpc::ReplySink& sink) {\n"
      "  auto& base = static_cast<Base&>(service);\n"
      "  auto reply = (base.*handler)(static_cast<const Request&>(request), context);\n"
      "  if (!reply) return std::move(reply).error();\n"
      "  return sink.reply(*reply);\n"
      "}\n");
}

void print_definitions(Printer& printer, const ServiceModel& service) {
  printer.Print(
      "\n"
      "const char* $service$Base::service_name() const { return \"$full_name$\"; }\n"
      "\n"
      "std::span<const ::corolane::rpc::Method> $service$Base::methods() const {\n"
      "  return methods_of_$service$;\n"
      "}\n",
      "service", service.name, "full_name", service.full_name);
  for (std::size_t i = 0; i < service.methods.size(); ++i) {
    const MethodModel& method = service.methods[i];
    printer.Print("\n");
    printer.PrintRaw(signature(
        0, "::corolane::Result<" + method.reply_type + ">",
        service.name + "Client::" + method.cpp_name,
        {"const " + method.request_type + "& request", "::corolane::rpc::CallOptions options"},
        " {"));
    printer.Print(
        "  ::corolane::Result<$reply$> reply;\n"
        "  auto called = client_->call(methods_of_$service$[$index$], request, *reply, options);\n"
        "  if (!called) return std::move(called).error();\n"
        "  return reply;\n"
        "}\n",
        "reply", method.reply_type, "service", service.name, "index", std::to_string(i));
  }
}

}  // namespace

std::string source_text(const FileModel& file) {
  return printed([&](Printer& printer) {
    print_opening(printer, file);
    printer.Print(
        "#include \"$stem$.corolane.h\"\n"
        "\n"
        "#include <array>\n"
        "#include <chrono>\n"
        "#include <utility>\n"
        "\n"
        "#include \"rpc/frame.h\"\n",
        "stem", file.stem);
    print_namespace_begin(printer, file);
    if (file.cpp_namespace.empty()) printer.Print("\n");
    print_entries(printer);
    for (const ServiceModel& service : file.services) print_table(printer, service);
    printer.Print("\n}  // namespace\n");
    for (const ServiceModel& service : file.services) print_definitions(printer, service);
    print_namespace_end(printer, file);
  });
}

}  // namespace corolane::rpc::codegen
