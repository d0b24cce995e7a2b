// SPDX-License-Identifier: MIT
// google.protobuf.Any in JSON: {"@type":"type.googleapis.com/package.Message",...its fields}, or,
// for a type with a JSON form of its own, {"@type":"...","value":...}.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::rpc::detail {

// An empty message of the type behind the last slash of `url`, found among the types of `root`,
// which may be a dynamic message. Null when there is none.
std::unique_ptr<google::protobuf::Message> make_content(const google::protobuf::Message& root,
                                                        std::string_view url);

// Whether the message is the "value" of an Any, beside "@type".
bool has_own_json(const google::protobuf::Message& content);

// Finds each "@type" that is not the first member of its object. The parser of the text cannot: it
// comes to the other members first, and needs the type to understand them. The first question costs
// a second pass over the whole text, the others nothing, however Anys are nested.
class LateTypes {
 public:
  void begin(std::string_view json);

  // The "@type" of the object that begins at that byte; empty when it is missing or no text.
  // Fails when the text is not JSON or is nested too deeply.
  Result<std::string_view> find(std::size_t object_begin);

 private:
  class Events;
  struct Type {
    std::size_t object_begin;
    std::size_t begin;  // In urls_.
    std::size_t size;
  };

  Result<void> read();

  std::string_view json_;
  bool is_read_ = false;
  std::vector<Type> types_;  // Sorted by the object.
  std::string urls_;
};

}  // namespace corolane::rpc::detail
