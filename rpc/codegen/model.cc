#include "rpc/codegen/model.h"

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "rpc/codegen/method_options.h"
#include "rpc/codegen/names.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;

// The lines of a comment as they follow two slashes: "// like this" is " like this".
std::vector<std::string> comment_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    // At the end of a line, a backslash would make the next one part of the comment.
    if (line.ends_with('\\')) line += '.';
    lines.push_back(std::move(line));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

template <typename Descriptor>
std::vector<std::string> comment_of(const Descriptor& descriptor) {
  pb::SourceLocation location;
  if (!descriptor.GetSourceLocation(&location)) return {};
  return comment_lines(location.leading_comments);
}

std::string type_name(const pb::Descriptor& type, const std::string& used_in) {
  const std::string home = namespace_of(type.file()->package());
  const std::string scope = home == used_in ? "" : home.empty() ? "::" : "::" + home + "::";
  return scope + pb::compiler::cpp::ClassName(&type);
}

MethodModel read_method(const pb::MethodDescriptor& method, const std::string& cpp_namespace) {
  return {
      .cpp_name = snake_case(method.name()),
      .full_name = full_name_of(method),
      .comment = comment_of(method),
      .request_type = type_name(*method.input_type(), cpp_namespace),
      .reply_type = type_name(*method.output_type(), cpp_namespace),
      .timeout = timeout_of(method).value(),
      .stack_size_bytes = stack_size_bytes_of(method).value(),
  };
}

}  // namespace

FileModel read_model(const pb::FileDescriptor& file) {
  FileModel model;
  model.proto_path = file.name();
  model.stem = stem_of(file.name());
  model.cpp_namespace = namespace_of(file.package());
  for (int i = 0; i < file.service_count(); ++i) {
    const pb::ServiceDescriptor& service = *file.service(i);
    ServiceModel& service_model = model.services.emplace_back();
    service_model.name = service.name();
    service_model.full_name = service.full_name();
    service_model.comment = comment_of(service);
    for (int j = 0; j < service.method_count(); ++j) {
      const pb::MethodDescriptor& method = *service.method(j);
      service_model.methods.push_back(read_method(method, model.cpp_namespace));
      for (const pb::Descriptor* type : {method.input_type(), method.output_type()}) {
        model.message_headers.insert(stem_of(type->file()->name()) + ".pb.h");
      }
    }
  }
  return model;
}

}  // namespace corolane::rpc::codegen
