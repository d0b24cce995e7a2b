#include "rpc/codegen/problems.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rpc/codegen/method_options.h"
#include "rpc/codegen/names.h"
#include "rpc/frame.h"
#include "rpc/options.pb.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;

// Members of the generated classes besides the methods of the service.
constexpr auto own_members =
    std::to_array<std::string_view>({"client_", "methods", "service_name"});

class ProblemFinder {
 public:
  explicit ProblemFinder(const pb::FileDescriptor& file) : file_(file) {}

  std::vector<Problem> find() {
    for (int i = 0; i < file_.service_count(); ++i) check_service(*file_.service(i));
    return std::move(problems_);
  }

 private:
  // The way to a thing by numbers and indices of fields, as SourceCodeInfo notes places.
  using Path = std::vector<int>;

  void check_service(const pb::ServiceDescriptor& service) {
    check_class_names(service);
    cpp_names_.clear();
    for (int i = 0; i < service.method_count(); ++i) {
      const pb::MethodDescriptor& method = *service.method(i);
      // In the order in which they stand in the file.
      check_name(method);
      check_id(method);
      check_streams(method);
      check_options(method);
    }
  }

  void check_class_names(const pb::ServiceDescriptor& service) {
    const std::string scope = file_.package().empty() ? "" : file_.package() + ".";
    for (const std::string& name : {service.name() + "Base", service.name() + "Client"}) {
      if (file_.pool()->FindMessageTypeByName(scope + name) == nullptr &&
          file_.pool()->FindEnumTypeByName(scope + name) == nullptr) {
        continue;
      }
      report({pb::FileDescriptorProto::kServiceFieldNumber, service.index(),
              pb::ServiceDescriptorProto::kNameFieldNumber},
             service.name() + " becomes the class " + name +
                 " in C++, a name that is taken already; rename one of them");
    }
  }

  void check_name(const pb::MethodDescriptor& method) {
    const std::string cpp_name = snake_case(method.name());
    const std::string becomes = " becomes \"" + cpp_name + "\" in C++, ";
    if (is_keyword(cpp_name)) {
      report_name(method, method.name() + becomes + "which is a keyword; rename it");
    } else if (std::ranges::find(own_members, cpp_name) != own_members.end()) {
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

  void check_streams(const pb::MethodDescriptor& method) {
    if (!method.client_streaming() && !method.server_streaming()) return;
    report(path_in(method, method.client_streaming()
                               ? pb::MethodDescriptorProto::kClientStreamingFieldNumber
                               : pb::MethodDescriptorProto::kServerStreamingFieldNumber),
           method.name() +
               " streams, which is not supported yet; "
               "let callers ask again, and answer when there is news");
  }

  void check_options(const pb::MethodDescriptor& method) {
    if (const auto timeout = timeout_of(method); !timeout) {
      report_option(method, MethodOptions::kTimeoutFieldNumber, timeout.error());
    }
    if (const auto size = stack_size_bytes_of(method); !size) {
      report_option(method, MethodOptions::kStackSizeFieldNumber, size.error());
    }
  }

  static Path path_in(const pb::MethodDescriptor& method, int field) {
    return {pb::FileDescriptorProto::kServiceFieldNumber, method.service()->index(),
            pb::ServiceDescriptorProto::kMethodFieldNumber, method.index(), field};
  }

  void report_name(const pb::MethodDescriptor& method, std::string message) {
    report(path_in(method, pb::MethodDescriptorProto::kNameFieldNumber), std::move(message));
  }

  void report_option(const pb::MethodDescriptor& method, int option, const Error& error) {
    Path path = path_in(method, pb::MethodDescriptorProto::kOptionsFieldNumber);
    path.insert(path.end(), {kMethodFieldNumber, option});
    report(std::move(path), method.name() + ": " + error.message());
  }

  // What has no place of its own in the notes has that of the nearest thing around it.
  void report(Path path, std::string message) {
    pb::SourceLocation location{};
    while (!path.empty() && !file_.GetSourceLocation(path, &location)) path.pop_back();
    problems_.push_back({.proto_path = file_.name(),
                         .line = location.start_line + 1,
                         .column = location.start_column + 1,
                         .message = std::move(message)});
  }

  const pb::FileDescriptor& file_;
  std::unordered_map<std::string, std::string> cpp_names_;  // To the first method, in a service.
  std::unordered_map<std::uint64_t, std::string> ids_;      // To the first method, in the file.
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
