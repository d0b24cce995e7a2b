// SPDX-License-Identifier: MIT
// Fills a message from the parser events of a JSON text.
//
// Open objects and arrays are on a separate stack: deeply nested text costs no coroutine stack.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc/http/detail/json_any.h"

namespace corolane::rpc::detail {

// A value without parts. A number keeps its text.
struct JsonScalar {
  enum class Kind { null, boolean, number, string };

  Kind kind;
  bool truth = false;
  std::string_view text = {};
};

class JsonBuilder {
 public:
  // The text is that of the events; it is not changed until the last of them.
  void begin(google::protobuf::Message& root, std::string_view json);

  // Each returns false when the value does not fit; why() then says why and where.
  bool scalar(const JsonScalar& value);
  bool start_object(std::size_t begin);  // The byte of the text.
  bool key(std::string_view name);
  bool end_object() { return end(); }
  bool start_array();
  bool end_array() { return end(); }

  // Rejects the parser's input.
  bool refuse(std::string why) { return fail(std::move(why)); }

  // "player.items[3].count: expects an int32, not \"many\"".
  std::string why() const;

 private:
  struct Frame {
    // An Any has the fields of its content, or is any_value: the content comes as its "value".
    enum class Kind { object, any, any_value, list, map };

    Kind kind;
    google::protobuf::Message* message;  // For an Any, the content, once its type is known.
    // The field whose value comes next; in an object, null for an unknown field.
    const google::protobuf::FieldDescriptor* field;
    int next = 0;    // The index in a list; a guess in an object.
    int levels = 0;  // In an Any: how deep the message lies in the content.
    google::protobuf::Message* entry = nullptr;  // The last entry of a map.
  };
  // An Any whose object is open. Its "@type" and "value" stand for the fields of the Any itself.
  struct OpenAny {
    google::protobuf::Message* any;
    std::size_t begin;                                   // The byte of the text.
    std::unique_ptr<google::protobuf::Message> content;  // Null until its type is known.
    bool has_type = false;
    bool has_value = false;
  };
  // The place where a value goes.
  struct Place {
    google::protobuf::Message* message;
    const google::protobuf::FieldDescriptor* field;
    bool is_element;
  };

  Place place() const;
  bool is_skipping() const { return skipped_depth_ > 0; }
  static bool has_names(const Frame& frame) { return frame.kind < Frame::Kind::list; }
  bool is_unknown() const;
  // The message that comes as a whole, as no field of another; or null.
  google::protobuf::Message* whole() const;
  bool end();
  // `levels`: how much deeper the frame's messages lie than those of the frame below.
  bool push(Frame frame, int levels);
  bool open_object(google::protobuf::Message& message, std::size_t begin);
  bool open_any(google::protobuf::Message& any, std::size_t begin);
  bool any_key(std::string_view name);
  bool make_any_content();
  bool close_any();
  bool open_array(google::protobuf::Message& message);
  // A new message at that place.
  google::protobuf::Message* make_message(const Place& at);
  bool may_set(const Place& at);
  bool set(const Place& at, const JsonScalar& value);
  bool set_message(google::protobuf::Message& message, const JsonScalar& value);
  bool set_value(google::protobuf::Message& message, const JsonScalar& value);
  bool set_key(google::protobuf::Message& entry, std::string_view text);
  bool set_enum(const Place& at, const JsonScalar& value);
  bool set_text(const Place& at, const JsonScalar& value);
  template <typename Number>
  bool set_number(const Place& at, const JsonScalar& value, const char* expected);
  const google::protobuf::FieldDescriptor* find_field(Frame& frame, std::string_view name);
  bool value_done();
  bool expects(std::string_view what, const JsonScalar& value);
  bool fail(std::string why);

  google::protobuf::Message* root_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<OpenAny> anys_;
  LateTypes late_types_;
  std::size_t skipped_depth_ = 0;  // Depth inside an unknown field.
  std::string name_;
  std::string why_;
};

}  // namespace corolane::rpc::detail
