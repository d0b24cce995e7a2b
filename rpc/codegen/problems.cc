// SPDX-License-Identifier: MIT
#include "rpc/codegen/problems.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rpc/codegen/method_options.h"
#include "rpc/codegen/names.h"
#include "rpc/options.pb.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;

// Members of the generated classes besides the methods of the service.
constexpr auto own_members =
    std::to_array<std::string_view>({"client_", "comments", "methods", "service_name"});

// The same for objects, with the members of framework/objects/object.h.
constexpr auto own_object_members = std::to_array<std::string_view>(
    {"change",    "comments",     "deactivate",  "destroy",       "follow",        "id",
     "id_",       "methods",      "object_type", "on_activate",   "on_deactivate", "on_reminder",
     "outbox",    "outbox_size",  "outside",     "reminders",     "router",        "router_",
     "save",      "service_name", "state",       "state_message", "timers",        "wait_until",
     "wall_clock"});

// Further members of objects that publish.
constexpr auto own_publishing_members =
    std::to_array<std::string_view>({"position", "publish", "subscribe"});

// Macros of the C library: a call of such a method would expand the macro.
constexpr auto macros =
    std::to_array<std::string_view>({"assert", "errno", "offsetof", "setjmp", "stderr", "stdin",
                                     "stdout", "va_arg", "va_copy", "va_end", "va_start"});

class ProblemFinder {
 public:
  explicit ProblemFinder(const pb::FileDescriptor& file) : file_(file) {}

  std::vector<Problem> find() {
    if (file_.service_count() > 0) check_package();
    for (int i = 0; i < file_.service_count(); ++i) check_service(*file_.service(i));
    return std::move(problems_);
  }

 private:
  // The path of an element by field numbers and indices, as in SourceCodeInfo.
  using Path = std::vector<int>;

  // protobuf makes namespaces of keywords as they are, so its own code for messages does not
  // compile.
  void check_package() {
    for (const auto part : std::views::split(file_.package(), '.')) {
      const std::string_view word(part.begin(), part.end());
      if (!is_keyword(word)) continue;
      report({pb::FileDescriptorProto::kPackageFieldNumber},
             "package " + file_.package() + ": \"" + std::string(word) +
                 "\" is a keyword of C++ and cannot be a namespace; rename it");
    }
  }

  void check_service(const pb::ServiceDescriptor& service) {
    check_class_names(service);
    check_object(service);
    cpp_names_.clear();
    for (int i = 0; i < service.method_count(); ++i) {
      const pb::MethodDescriptor& method = *service.method(i);
      check_name(method);
      check_id(method);
      check_options(method);
    }
  }

  void check_class_names(const pb::ServiceDescriptor& service) {
    const std::string scope = file_.package().empty() ? "" : file_.package() + ".";
    const char* const base = is_object(service) ? "Object" : "Base";
    for (const std::string& name : {service.name() + base, service.name() + "Client"}) {
      // A service has no class of its own name.
      if (file_.pool()->FindFileContainingSymbol(scope + name) == nullptr ||
          file_.pool()->FindServiceByName(scope + name) != nullptr) {
        continue;
      }
      report({pb::FileDescriptorProto::kServiceFieldNumber, service.index(),
              pb::ServiceDescriptorProto::kNameFieldNumber},
             service.name() + " becomes the class " + name +
                 " in C++, a name that is taken already; rename one of them");
    }
  }

  void check_object(const pb::ServiceDescriptor& service) {
    const auto report_if_wrong = [&](int option, const Result<const pb::Descriptor*>& message) {
      if (message) return;
      report({pb::FileDescriptorProto::kServiceFieldNumber, service.index(),
              pb::ServiceDescriptorProto::kOptionsFieldNumber, kObjectFieldNumber, option},
             service.name() + ": " + message.error().message());
    };
    report_if_wrong(ObjectOptions::kStateFieldNumber, state_of(service));
    report_if_wrong(ObjectOptions::kPublishesFieldNumber, publication_of(service));
  }

  static bool is_own_member(const std::string& cpp_name, const pb::ServiceDescriptor& service) {
    const auto is_in = [&](const auto& names) {
      return std::ranges::find(names, cpp_name) != names.end();
    };
    if (!is_object(service)) return is_in(own_members);
    const bool publishes = publication_of(service).value_or(nullptr) != nullptr;
    return is_in(own_object_members) || (publishes && is_in(own_publishing_members));
  }

  void check_name(const pb::MethodDescriptor& method) {
    const std::string cpp_name = snake_case(method.name());
    const std::string becomes = " becomes \"" + cpp_name + "\" in C++, ";
    if (is_keyword(cpp_name)) {
      report_name(method, method.name() + becomes + "which is a keyword; rename it");
    } else if (std::ranges::find(macros, cpp_name) != macros.end()) {
      report_name(method, method.name() + becomes + "which is a macro of the C library; rename it");
    } else if (is_own_member(cpp_name, *method.service())) {
      report_name(method,
                  method.name() + becomes + "which generated classes have already; rename it");
    }
    const auto [first, is_new] = cpp_names_.try_emplace(cpp_name, method.name());
    if (!is_new) {
      report_name(method,
                  method.name() + becomes + "as does " + first->second + "; rename one of them");
    }
  }

  void check_id(const pb::MethodDescriptor& method) {
    const std::string full_name = full_name_of(method);
    const auto [first, is_new] = ids_.try_emplace(method_id(full_name), full_name);
    if (!is_new) {
      report_name(method, full_name + " and " + first->second +
                              " have the same id on the wire; rename one of them");
    }
  }

  void check_options(const pb::MethodDescriptor& method) {
    report_if_wrong(method, MethodOptions::kTimeoutFieldNumber, timeout_of(method));
    report_if_wrong(method, MethodOptions::kTimeoutMaxFieldNumber, timeout_max_of(method));
    report_if_wrong(method, MethodOptions::kStackSizeFieldNumber, stack_size_bytes_of(method));
    report_if_wrong(method, MethodOptions::kPriorityFieldNumber, priority_of(method));
    if (is_one_way(method)) check_one_way(method);
    if (is_object(*method.service())) {
      check_of_object(method);
    } else {
      check_of_no_object(method);
    }
    if (is_idempotent(method) && (is_one_way(method) || is_stream(method))) {
      report_option(method, MethodOptions::kIdempotentFieldNumber,
                    std::string("idempotent: ") +
                        (is_one_way(method) ? "one-way calls" : "streams") +
                        " are never retried; leave it out");
    }
  }

  void check_one_way(const pb::MethodDescriptor& method) {
    if (is_stream(method)) {
      report_option(method, MethodOptions::kOneWayFieldNumber,
                    std::string("one_way: it ") +
                        (method.server_streaming() ? "replies" : "is called") +
                        " with a stream; leave one of the two out");
    } else if (method.output_type()->full_name() != "google.protobuf.Empty") {
      report(path_in(method, pb::MethodDescriptorProto::kOutputTypeFieldNumber),
             method.name() + " is one_way, so no caller gets its " +
                 method.output_type()->full_name() +
                 "; let it return google.protobuf.Empty, or leave one_way out");
    }
  }

  void check_of_object(const pb::MethodDescriptor& method) {
    if (method.client_streaming()) {
      report(path_in(method, pb::MethodDescriptorProto::kClientStreamingFieldNumber),
             method.name() +
                 " is called with a stream, which would block all other calls of its object; let "
                 "callers call once for each message, or let a service take the stream");
    }
    if (is_durable(method) && is_read_only(method)) {
      report_option(method, MethodOptions::kDurableFieldNumber,
                    "durable: a read_only method has nothing to store; leave one of the two out");
    } else if (is_durable(method) && is_one_way(method)) {
      report_option(method, MethodOptions::kDurableFieldNumber,
                    "durable: a one_way method has no reply that could wait for the store; leave "
                    "one of the two out");
    }
  }

  void check_of_no_object(const pb::MethodDescriptor& method) {
    const std::string hint = " is for objects; give " + method.service()->name() +
                             " an `option (corolane.object).state`, or leave it out";
    if (is_durable(method)) {
      report_option(method, MethodOptions::kDurableFieldNumber, "durable:" + hint);
    }
    if (is_read_only(method)) {
      report_option(method, MethodOptions::kReadOnlyFieldNumber, "read_only:" + hint);
    }
  }

  static Path path_in(const pb::MethodDescriptor& method, int field) {
    return {pb::FileDescriptorProto::kServiceFieldNumber, method.service()->index(),
            pb::ServiceDescriptorProto::kMethodFieldNumber, method.index(), field};
  }

  void report_name(const pb::MethodDescriptor& method, std::string message) {
    report(path_in(method, pb::MethodDescriptorProto::kNameFieldNumber), std::move(message));
  }

  void report_option(const pb::MethodDescriptor& method, int option, const std::string& message) {
    Path path = path_in(method, pb::MethodDescriptorProto::kOptionsFieldNumber);
    path.insert(path.end(), {kMethodFieldNumber, option});
    report(std::move(path), method.name() + ": " + message);
  }

  template <typename T>
  void report_if_wrong(const pb::MethodDescriptor& method, int option, const Result<T>& value) {
    if (!value) report_option(method, option, value.error().message());
  }

  // An element without a location of its own gets that of the nearest enclosing element.
  void report(Path path, std::string message) {
    pb::SourceLocation location{};
    while (!path.empty() && !file_.GetSourceLocation(path, &location)) path.pop_back();
    Problem problem = {.proto_path = file_.name(),
                       .line = location.start_line + 1,
                       .column = location.start_column + 1,
                       .message = std::move(message)};
    const auto place = [](const Problem& one) { return std::pair(one.line, one.column); };
    const auto behind = std::ranges::upper_bound(problems_, place(problem), {}, place);
    problems_.insert(behind, std::move(problem));
  }

  const pb::FileDescriptor& file_;
  std::unordered_map<std::string, std::string> cpp_names_;  // To the first method, per service.
  std::unordered_map<std::uint64_t, std::string> ids_;      // To the first method, per file.
  std::vector<Problem> problems_;
};

}  // namespace

std::string to_string(const Problem& problem) {
  return problem.proto_path + ":" + std::to_string(problem.line) + ":" +
         std::to_string(problem.column) + ": " + problem.message;
}

std::vector<Problem> find_problems(const pb::FileDescriptor& file) {
  return ProblemFinder(file).find();
}

}  // namespace corolane::rpc::codegen
