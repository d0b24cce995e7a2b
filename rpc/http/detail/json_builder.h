// Puts the values of a JSON text into a message, one event of the parser after the other.
//
// What is open is on a stack of its own: text that is nested deeply costs no coroutine stack.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corolane::rpc::detail {

// A value without parts. A number has the text that it was written as.
struct JsonScalar {
  enum class Kind { null, boolean, number, string };

  Kind kind;
  bool truth = false;
  std::string_view text = {};
};

class JsonBuilder {
 public:
  void begin(google::protobuf::Message& root);

  // Each false when that cannot be; why() says why and where, then.
  bool scalar(const JsonScalar& value);
  bool start_object();
  bool key(std::string_view name);
  bool end_object() { return end(); }
  bool start_array();
  bool end_array() { return end(); }

  // What the parser has found is not to be used.
  bool refuse(std::string why) { return fail(std::move(why)); }

  // "player.items[3].count: expects an int32, not \"many\"".
  std::string why() const;

 private:
  struct Frame {
    enum class Kind { object, list, map };

    Kind kind;
    google::protobuf::Message* message;
    // The one whose value comes next; of an object, null for one that the message does not have.
    const google::protobuf::FieldDescriptor* field;
    int next = 0;                                // Of a list, the index; of an object, a guess.
    google::protobuf::Message* entry = nullptr;  // Of a map, the one that was begun last.
  };
  // Where a value goes.
  struct Place {
    google::protobuf::Message* message;
    const google::protobuf::FieldDescriptor* field;
    bool is_element;
  };

  Place place() const;
  bool is_skipping() const { return skipped_depth_ > 0; }
  bool is_unknown() const;
  bool end();
  bool push(Frame frame);
  bool open_object(google::protobuf::Message& message);
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
  void value_done();
  bool expects(std::string_view what, const JsonScalar& value);
  bool fail(std::string why);

  google::protobuf::Message* root_ = nullptr;
  std::vector<Frame> frames_;
  std::size_t skipped_depth_ = 0;  // Of objects and arrays inside of an unknown field.
  std::string name_;
  std::string why_;
};

}  // namespace corolane::rpc::detail
