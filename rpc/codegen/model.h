// SPDX-License-Identifier: MIT
// The model that code is generated from: the services of a .proto file, spelled as in C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "rpc/codegen/comments.h"

namespace google::protobuf {
class FileDescriptor;
}

namespace corolane::rpc::codegen {

struct MethodModel {
  std::string cpp_name;      // "wait_move".
  std::string full_name;     // "corolane.services.chess.Chess/WaitMove".
  CommentLines comment;      // From the .proto.
  std::string request_type;  // Spelled for the namespace of the service.
  std::string reply_type;
  Duration timeout{};
  Duration timeout_max{};  // Zero when it is not set.
  std::size_t stack_size_bytes = 0;
  std::string priority;  // Spelled as in rpc::Priority.
  bool is_idempotent = false;
  bool is_one_way = false;
  bool is_streaming = false;  // Replies with a stream.
  bool is_called_with_stream = false;
  bool is_public = false;
  bool is_durable = false;
  bool is_read_only = false;
  bool is_deprecated = false;

  bool is_unary() const { return !is_one_way && !is_streaming && !is_called_with_stream; }
  bool is_upload() const { return is_called_with_stream && !is_streaming; }
  bool is_duplex() const { return is_called_with_stream && is_streaming; }
  bool is_watched() const { return is_streaming && !is_called_with_stream; }
  // The return type of the client's method.
  std::string client_result(bool is_of_object) const;
  // The parameters of the client's method; the options have no default.
  std::vector<std::string> client_parameters() const;
};

struct ServiceModel {
  std::string name;       // "Chess".
  std::string full_name;  // "corolane.services.chess.Chess".
  CommentLines comment;
  // The state of an object, spelled for the namespace of the service; empty for other services.
  std::string state_type;
  std::string publication_type;  // Empty for a service that does not publish.
  std::vector<MethodModel> methods;

  bool is_object() const { return !state_type.empty(); }
  bool publishes() const { return !publication_type.empty(); }
  // The type that a client's subscribe() returns.
  std::string subscription_type() const {
    return "::corolane::framework::Subscription<" + publication_type + ">";
  }
  // The class that a server implements.
  std::string base_name() const { return name + (is_object() ? "Object" : "Base"); }
};

struct FileModel {
  // True when `predicate` holds for a method of any service.
  template <typename Predicate>
  bool has_method(Predicate predicate) const {
    return std::ranges::any_of(services, [&](const ServiceModel& service) {
      return std::ranges::any_of(service.methods, predicate);
    });
  }

  bool has_objects() const { return std::ranges::any_of(services, &ServiceModel::is_object); }
  bool has_publishing_objects() const {
    return std::ranges::any_of(services, &ServiceModel::publishes);
  }
  bool has_streaming_objects() const {
    return std::ranges::any_of(services, [](const ServiceModel& service) {
      return service.is_object() && std::ranges::any_of(service.methods, &MethodModel::is_watched);
    });
  }
  bool has_plain_services() const {
    return !std::ranges::all_of(services, &ServiceModel::is_object);
  }

  std::string proto_path;
  std::string stem;           // The path without ".proto".
  std::string cpp_namespace;  // Empty when the file has no package.
  CommentLines comment;
  std::set<std::string> message_headers;  // For requests, replies, states and publications.
  std::vector<ServiceModel> services;
  std::vector<SymbolComment> symbol_comments;  // For reflection.
};

// find_problems() has found no problem in `file`.
FileModel read_model(const google::protobuf::FileDescriptor& file);

}  // namespace corolane::rpc::codegen
