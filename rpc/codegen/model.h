// What is generated from a .proto file: its services, spelled as in C++.
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
  CommentLines comment;      // Of the .proto.
  std::string request_type;  // As named in the namespace of the service.
  std::string reply_type;
  Duration timeout{};
  std::size_t stack_size_bytes = 0;
  std::string priority;  // As in rpc::Priority.
  bool is_idempotent = false;
  bool is_one_way = false;
  bool is_streaming = false;  // Replies a stream.
  bool is_public = false;
  bool is_durable = false;
  bool is_read_only = false;
  bool is_deprecated = false;

  bool is_unary() const { return !is_one_way && !is_streaming; }
  // What the method of a client returns.
  std::string client_result() const;
};

struct ServiceModel {
  std::string name;       // "Chess".
  std::string full_name;  // "corolane.services.chess.Chess".
  CommentLines comment;
  // Of an object, as named in the namespace of the service; empty for any other service.
  std::string state_type;
  std::string publication_type;  // Of an object that publishes; empty for any other service.
  std::vector<MethodModel> methods;

  bool is_object() const { return !state_type.empty(); }
  bool publishes() const { return !publication_type.empty(); }
  // What a client subscribes with.
  std::string subscription_type() const {
    return "::corolane::framework::Subscription<" + publication_type + ">";
  }
  // The class that a server implements.
  std::string base_name() const { return name + (is_object() ? "Object" : "Base"); }
};

struct FileModel {
  // True when some method of some service is as `predicate` says.
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
  bool has_plain_services() const {
    return !std::ranges::all_of(services, &ServiceModel::is_object);
  }

  std::string proto_path;
  std::string stem;           // The path without ".proto".
  std::string cpp_namespace;  // Empty when the file has no package.
  CommentLines comment;
  std::set<std::string> message_headers;  // Of all requests, replies, states and publications.
  std::vector<ServiceModel> services;
  std::vector<SymbolComment> symbol_comments;  // For reflection.
};

// `file` is one that find_problems() has nothing against.
FileModel read_model(const google::protobuf::FileDescriptor& file);

}  // namespace corolane::rpc::codegen
