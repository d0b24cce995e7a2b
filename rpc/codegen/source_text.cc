// SPDX-License-Identifier: MIT
// X.corolane.cc: the method table of each service, and the members of both classes that use it.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/codegen/fragments.h"
#include "rpc/codegen/text.h"

namespace corolane::rpc::codegen {
namespace {

// The duration in the largest unit that divides it: "std::chrono::seconds(60)".
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

const char* bool_text(bool value) { return value ? "true" : "false"; }

// The function template that calls the handler of a method, and its arguments.
std::string invoke_text(const ServiceModel& service, const MethodModel& method) {
  const std::string shape = method.is_duplex()    ? "duplex"
                            : method.is_upload()  ? "upload"
                            : method.is_streaming ? "stream"
                            : method.is_one_way   ? "one_way"
                                                  : "unary";
  const std::string base = service.base_name();
  std::vector<std::string> arguments = {base, method.request_type};
  if (method.is_streaming) arguments.push_back(method.reply_type);
  arguments.push_back("&" + base + "::" + method.cpp_name);
  return "invoke_" + shape + "<" + joined(arguments, ", ") + ">";
}

void print_table(Printer& printer, const ServiceModel& service) {
  if (service.methods.empty()) return;
  printer.Print(
      "\n"
      "constexpr std::array<::corolane::rpc::Method, $count$> methods_of_$service$ = {{\n",
      "count", std::to_string(service.methods.size()), "service", service.name);
  for (const MethodModel& method : service.methods) {
    printer.Print(
        "    {\n"
        "        .full_name = \"$name$\",\n"
        "        .id = ::corolane::rpc::method_id(\"$name$\"),\n"
        "        .timeout = $timeout$,\n"
        "        .stack_size_bytes = $stack_size$,\n"
        "        .priority = ::corolane::rpc::Priority::$priority$,\n"
        "        .idempotent = $idempotent$,\n"
        "        .one_way = $one_way$,\n"
        "        .client_streaming = $called_with_stream$,\n"
        "        .server_streaming = $streaming$,\n"
        "        .is_public = $public$,\n"
        "        .durable = $durable$,\n"
        "        .read_only = $read_only$,\n",
        "name", method.full_name, "timeout", duration_text(method.timeout), "stack_size",
        size_text(method.stack_size_bytes), "priority", method.priority, "idempotent",
        bool_text(method.is_idempotent), "one_way", bool_text(method.is_one_way),
        "called_with_stream", bool_text(method.is_called_with_stream), "streaming",
        bool_text(method.is_streaming), "public", bool_text(method.is_public), "durable",
        bool_text(method.is_durable), "read_only", bool_text(method.is_read_only));
    if (method.timeout_max > Duration::zero()) {
      printer.Print("        .timeout_max = $timeout$,\n", "timeout",
                    duration_text(method.timeout_max));
    }
    printer.Print("        .new_request = new_message<$request$>,\n", "request",
                  method.request_type);
    if (!method.is_one_way) {
      printer.Print("        .new_reply = new_message<$reply$>,\n", "reply", method.reply_type);
    }
    if (method.is_unary() || method.is_upload()) {
      printer.Print("        .take_reply = take_reply<$reply$>,\n", "reply", method.reply_type);
    }
    printer.Print("        .invoke = $invoke$,\n    },\n", "invoke", invoke_text(service, method));
  }
  printer.Print("}};\n");
}

// One table for all services of the file: a question about one of them leads to the others.
void print_comments(Printer& printer, const FileModel& file) {
  if (file.symbol_comments.empty()) return;
  printer.Print(
      "\n"
      "constexpr auto symbol_comments = std::to_array<::corolane::rpc::SymbolComment>({\n");
  for (const auto& [symbol, text] : file.symbol_comments) {
    printer.Print("    {\"$symbol$\",\n     $value$},\n", "symbol", symbol, "value",
                  literal(5, text));
  }
  printer.Print("});\n");
}

constexpr std::string_view new_message_text = R"(
template <typename Message>
::google::protobuf::Message* new_message(::google::protobuf::Arena* arena) {
  return ::google::protobuf::Arena::CreateMessage<Message>(arena);
}
)";

constexpr std::string_view take_reply_text = R"(
template <typename Reply>
void take_reply(::google::protobuf::Message& from, ::google::protobuf::Message& to) {
  static_cast<Reply&>(to) = static_cast<Reply&&>(from);
}
)";

constexpr std::string_view invoke_upload_text = R"(
template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_upload(::corolane::rpc::Service& service,
                                       const ::google::protobuf::Message&,
                                       ::corolane::rpc::Context& context,
                                       ::corolane::rpc::Messages& messages) {
  auto& base = static_cast<Base&>(service);
  ::corolane::rpc::Requests<Request> in(messages);
  auto reply = (base.*handler)(in, context);
  if (!reply) return std::move(reply).error();
  return messages.reply(*reply);
}
)";

constexpr std::string_view invoke_duplex_text = R"(
template <typename Base, typename Request, typename Reply, auto handler>
::corolane::Result<void> invoke_duplex(::corolane::rpc::Service& service,
                                       const ::google::protobuf::Message&,
                                       ::corolane::rpc::Context& context,
                                       ::corolane::rpc::Messages& messages) {
  auto& base = static_cast<Base&>(service);
  ::corolane::rpc::Requests<Request> in(messages);
  ::corolane::rpc::Writer<Reply> out(messages);
  return (base.*handler)(in, out, context);
}
)";

constexpr std::string_view invoke_unary_text = R"(
template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_unary(::corolane::rpc::Service& service,
                                      const ::google::protobuf::Message& request,
                                      ::corolane::rpc::Context& context,
                                      ::corolane::rpc::Messages& messages) {
  auto& base = static_cast<Base&>(service);
  auto reply = (base.*handler)(static_cast<const Request&>(request), context);
  if (!reply) return std::move(reply).error();
  return messages.reply(*reply);
}
)";

constexpr std::string_view invoke_stream_text = R"(
template <typename Base, typename Request, typename Reply, auto handler>
::corolane::Result<void> invoke_stream(::corolane::rpc::Service& service,
                                       const ::google::protobuf::Message& request,
                                       ::corolane::rpc::Context& context,
                                       ::corolane::rpc::Messages& messages) {
  auto& base = static_cast<Base&>(service);
  ::corolane::rpc::Writer<Reply> out(messages);
  return (base.*handler)(static_cast<const Request&>(request), out, context);
}
)";

constexpr std::string_view invoke_one_way_text = R"(
template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_one_way(::corolane::rpc::Service& service,
                                        const ::google::protobuf::Message& request,
                                        ::corolane::rpc::Context& context,
                                        ::corolane::rpc::Messages&) {
  auto& base = static_cast<Base&>(service);
  return (base.*handler)(static_cast<const Request&>(request), context);
}
)";

bool has_any_method(const FileModel& file) {
  return file.has_method([](const MethodModel&) { return true; });
}

// The functions that the tables of the file point to.
void print_entries(Printer& printer, const FileModel& file) {
  if (has_any_method(file)) printer.PrintRaw(std::string(new_message_text));
  const auto print_for = [&](bool (MethodModel::*shape)() const, std::string_view text) {
    if (file.has_method(shape)) printer.PrintRaw(std::string(text));
  };
  const auto replies_once = [](const MethodModel& m) { return m.is_unary() || m.is_upload(); };
  if (file.has_method(replies_once)) printer.PrintRaw(std::string(take_reply_text));
  print_for(&MethodModel::is_unary, invoke_unary_text);
  print_for(&MethodModel::is_upload, invoke_upload_text);
  print_for(&MethodModel::is_duplex, invoke_duplex_text);
  print_for(&MethodModel::is_watched, invoke_stream_text);
  if (file.has_method(&MethodModel::is_one_way)) {
    printer.PrintRaw(std::string(invoke_one_way_text));
  }
}

std::string client_body(const ServiceModel& service, std::size_t index) {
  const MethodModel& method = service.methods[index];
  const std::string result = method.client_result(service.is_object());
  const std::string row = "methods_of_" + service.name + "[" + std::to_string(index) + "]";
  if (method.is_called_with_stream) {
    return "  return " + result + "(*client_, " + row + ", options);\n";
  }
  if (method.is_streaming) {
    const std::string callee = service.is_object() ? "*router_, " : "*client_, ";
    const std::string id = service.is_object() ? ", id_" : "";
    return "  return " + result + "(" + callee + row + id + ", request, options);\n";
  }
  const std::string callee = service.is_object() ? "router_->" : "client_->";
  const std::string target = row + (service.is_object() ? ", id_" : "");
  if (method.is_one_way) {
    return "  return " + callee + "notify(" + target + ", request, options);\n";
  }
  return "  " + result + " reply;\n" +  //
         "  auto called = " + callee + "call(" + target + ", request, *reply, options);\n" +
         "  if (!called) reply = std::move(called).error();\n"
         "  return reply;\n";
}

void print_base(Printer& printer, const ServiceModel& service, bool has_comments) {
  const std::string name = "\"" + service.full_name + "\"";
  const std::string methods = service.methods.empty() ? "{}" : "methods_of_" + service.name;
  const auto print = [&](const std::string& type, const std::string& function,
                         const std::string& value) {
    printer.Print("\n$type$ $base$::$function$ {\n  return $value$;\n}\n", "type", type, "base",
                  service.base_name(), "function", function, "value", value);
  };
  if (service.is_object()) {
    const std::string comments = has_comments ? "symbol_comments" : "{}";
    print("::corolane::framework::ObjectType", "object_type()",
          "{" + joined({name, methods, comments}, ", ") + "}");
  }
  print("const char*", "service_name() const", name);
  print("std::span<const ::corolane::rpc::Method>", "methods() const", methods);
  if (!has_comments) return;
  print("std::span<const ::corolane::rpc::SymbolComment>", "comments() const", "symbol_comments");
}

void print_client(Printer& printer, const ServiceModel& service) {
  for (std::size_t i = 0; i < service.methods.size(); ++i) {
    const MethodModel& method = service.methods[i];
    printer.Print("\n");
    printer.PrintRaw(signature(0, method.client_result(service.is_object()),
                               service.name + "Client::" + method.cpp_name,
                               method.client_parameters(), " {"));
    printer.PrintRaw(client_body(service, i) + "}\n");
  }
  if (!service.publishes()) return;
  printer.Print(
      "\n"
      "$subscription$ $service$Client::subscribe() const {\n"
      "  return {*router_, \"$name$\", id_};\n"
      "}\n",
      "subscription", service.subscription_type(), "service", service.name, "name",
      service.full_name);
}

void print_includes(Printer& printer, const FileModel& file) {
  printer.Print("#include \"$stem$.corolane.h\"\n", "stem", file.stem);
  if (has_any_method(file)) {
    printer.Print("\n#include <array>\n#include <chrono>\n");
    const auto moves = [](const MethodModel& m) { return m.is_unary() || m.is_upload(); };
    if (file.has_method(moves)) printer.Print("#include <utility>\n");
    printer.Print("\n#include \"rpc/wire/frame.h\"\n");
  } else if (!file.symbol_comments.empty()) {
    printer.Print("\n#include <array>\n");
  }
}

void print_definitions(Printer& printer, const FileModel& file) {
  print_namespace_begin(printer, file);
  if (has_any_method(file) || !file.symbol_comments.empty()) {
    printer.Print("$gap$namespace {\n", "gap", file.cpp_namespace.empty() ? "\n" : "");
    print_entries(printer, file);
    for (const ServiceModel& service : file.services) print_table(printer, service);
    print_comments(printer, file);
    printer.Print("\n}  // namespace\n");
  }
  for (const ServiceModel& service : file.services) {
    print_base(printer, service, !file.symbol_comments.empty());
    print_client(printer, service);
  }
  print_namespace_end(printer, file);
}

}  // namespace

std::string source_text(const FileModel& file) {
  return printed([&](Printer& printer) {
    print_opening(printer, file);
    print_includes(printer, file);
    if (!file.services.empty()) print_definitions(printer, file);
  });
}

}  // namespace corolane::rpc::codegen
