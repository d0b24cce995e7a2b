// SPDX-License-Identifier: MIT
// Messages as JSON and back, by the mapping of proto3
// (https://protobuf.dev/programming-guides/json/): names in camelCase, 64-bit integers as strings,
// enums by name, bytes in base64, and the well-known types as people write them.
//
//   JsonReader reader;
//   if (auto read = reader.read(R"({"game":"7","ply":3})", request); !read) return read.error();
//   JsonWriter writer;
//   std::string text;
//   if (auto written = writer.write(reply, text); !written) return written.error();
//
// The reader is as strict as the mapping: a value of the wrong type or out of range is an error
// that names its place, `player.items[3].count: expects an int32, not "many"`. Unknown fields are
// ignored, as servers of the Connect protocol do, so that newer clients may call older servers.
//
// The type of a google.protobuf.Any is looked for among those of the message that holds it: those
// of the program, or those of the pool of a dynamic message. One that is not there is an error, as
// are bytes that are not of the type. "@type" may follow the other members, which costs a second
// pass over the text.
//
// Reader and writer neither recurse nor suspend, and keep their memory: in the steady state writing
// allocates only for the growth of the text, and reading only for the message, twice for a long
// string, which protobuf's reflection copies. Only Anys cost more: protobuf parses or serializes
// each of them by itself, at most json_depth_max messages deep. Each belongs to one thread.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::rpc {

// The maximum nesting of objects, arrays and maps: the same as protobuf's own limit.
inline constexpr std::size_t json_depth_max = 100;

class JsonReader {
 public:
  JsonReader();
  ~JsonReader();
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  // Reads all of `json` into `message`, which must be empty. Fails with invalid_argument and leaves
  // the message partly filled.
  Result<void> read(std::string_view json, google::protobuf::Message& message);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::size_t last_size_ = 0;
};

class JsonWriter {
 public:
  // Appends `message` to `json`. Fails with invalid_argument when JSON cannot carry it: text that
  // is not UTF-8, a time out of range, an Any of an unknown type, nesting that is too deep. The
  // appended text is then incomplete.
  Result<void> write(const google::protobuf::Message& message, std::string& json);

 private:
  // An open object, array or map, and how far it is written.
  struct Frame {
    enum class Kind { object, any, list, map };

    Kind kind;
    const google::protobuf::Message* message;        // For an Any, the content.
    const google::protobuf::FieldDescriptor* field;  // For a list or a map.
    int next = 0;
    bool is_first = true;
  };

  // Each returns false when it fails.
  bool step(std::string& json);
  bool step_object(Frame& top, std::string& json);
  bool step_any(Frame& top, std::string& json);
  bool step_list(Frame& top, std::string& json);
  bool step_map(Frame& top, std::string& json);
  bool open(const Frame& frame, std::string& json);
  bool close(char bracket, std::string& json);
  bool write_message(const google::protobuf::Message& message, std::string& json);
  bool write_any(const google::protobuf::Message& any, std::string& json);
  bool write_value(const google::protobuf::Message& value, std::string& json);
  // `index` is that of a repeated field's element, -1 for other fields.
  bool write_scalar(const google::protobuf::Message& message,
                    const google::protobuf::FieldDescriptor& field, int index, std::string& json);
  bool write_text(std::string_view text, std::string& json);
  bool fail(std::string why);

  const google::protobuf::Message* root_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<std::unique_ptr<google::protobuf::Message>> contents_;  // One for each open Any.
  std::string scratch_;
  std::string why_;
};

}  // namespace corolane::rpc
