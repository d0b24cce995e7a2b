// SPDX-License-Identifier: MIT
// JSON of messages: a message that was read can be written, and reads back the same; all other
// input is refused with an error, not a crash.
//
// Input: a JSON text for corolane.test.Everything, whose Any may hold every type of the program.
#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>

#include <string>

#include "coroutine/base/check.h"
#include "rpc/http/json.h"
#include "test/fuzz/target.h"
#include "test/rpc/mirror.pb.h"

namespace corolane::fuzz {

void run(Input input) {
  // Like those of a server: kept from one request to the next, refused ones included.
  static rpc::JsonReader reader;
  static rpc::JsonWriter writer;
  test::Everything message;
  if (const auto read = reader.read(text_of(input.rest()), message); !read) {
    check(read.error().code() == Code::invalid_argument && !read.error().message().empty(),
          "a refusal says why");
    return;
  }
  std::string json;
  const auto written = writer.write(message, json);
  check(written.has_value(), "what was read can be written");
  test::Everything again;
  check(reader.read(json, again).has_value(), "and read again");
  google::protobuf::util::MessageDifferencer differencer;
  google::protobuf::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&comparator);
  check(differencer.Compare(again, message), "with the same meaning");
}

}  // namespace corolane::fuzz
