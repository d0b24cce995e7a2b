// SPDX-License-Identifier: MIT
#include "rpc/codegen/model.h"

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "rpc/codegen/method_options.h"
#include "rpc/codegen/names.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;

// Inside a generated class these names refer to its base classes.
bool is_base_class(const std::string& name) {
  return name == "Service" || name == "Object" || name == "ObjectBase";
}

// The name without its namespace where that is unambiguous. A name in lower case is always written
// in full: it may also name a method or a variable.
std::string type_name(const pb::Descriptor& type, const std::string& used_in) {
  std::string name = pb::compiler::cpp::ClassName(&type);
  const std::string home = namespace_of(type.file()->package());
  const bool is_upper = name.front() >= 'A' && name.front() <= 'Z';
  if (home == used_in && is_upper && !is_base_class(name)) return name;
  return (home.empty() ? "::" : "::" + home + "::") + name;
}

MethodModel read_method(const pb::MethodDescriptor& method, const std::string& cpp_namespace) {
  return {
      .cpp_name = snake_case(method.name()),
      .full_name = full_name_of(method),
      .comment = comment_of(method),
      .request_type = type_name(*method.input_type(), cpp_namespace),
      .reply_type = type_name(*method.output_type(), cpp_namespace),
      .timeout = timeout_of(method).value(),
      .timeout_max = timeout_max_of(method).value(),
      .stack_size_bytes = stack_size_bytes_of(method).value(),
      .priority = priority_of(method).value(),
      .is_idempotent = is_idempotent(method),
      .is_one_way = is_one_way(method),
      .is_streaming = method.server_streaming(),
      .is_called_with_stream = method.client_streaming(),
      .is_public = is_public(method),
      .is_durable = is_durable(method),
      .is_read_only = is_read_only(method),
      .is_deprecated = method.options().deprecated(),
  };
}

}  // namespace

std::string MethodModel::client_result(bool is_of_object) const {
  if (is_called_with_stream) {
    return std::string("::corolane::rpc::") + (is_streaming ? "Duplex<" : "Upload<") +
           request_type + ", " + reply_type + ">";
  }
  if (is_streaming) {
    return (is_of_object ? "::corolane::framework::ObjectReader<" : "::corolane::rpc::Reader<") +
           reply_type + ">";
  }
  return "::corolane::Result<" + (is_one_way ? "void" : reply_type) + ">";
}

std::vector<std::string> MethodModel::client_parameters() const {
  const std::string options = "const ::corolane::rpc::CallOptions& options";
  if (is_called_with_stream) return {options};
  return {"const " + request_type + "& request", options};
}

FileModel read_model(const pb::FileDescriptor& file) {
  FileModel model;
  model.proto_path = file.name();
  model.stem = stem_of(file.name());
  model.cpp_namespace = namespace_of(file.package());
  model.comment = comment_of(file);
  model.symbol_comments = symbol_comments(file);
  for (int i = 0; i < file.service_count(); ++i) {
    const pb::ServiceDescriptor& service = *file.service(i);
    ServiceModel& service_model = model.services.emplace_back();
    service_model.name = service.name();
    service_model.full_name = service.full_name();
    service_model.comment = comment_of(service);
    const auto use = [&](const pb::Descriptor* type) -> std::string {
      if (type == nullptr) return "";
      model.message_headers.insert(stem_of(type->file()->name()) + ".pb.h");
      return type_name(*type, model.cpp_namespace);
    };
    service_model.state_type = use(state_of(service).value_or(nullptr));
    service_model.publication_type = use(publication_of(service).value_or(nullptr));
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
