// SPDX-License-Identifier: MIT
// JsonReader: RapidJSON cuts the text, iteratively; detail/json_builder.h fills the message.

#ifdef __SSE2__
#define RAPIDJSON_SSE2  // Looks for the ends of strings sixteen bytes at a time.
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <string>
#include <utility>

#include "coroutine/base/text.h"
#include "rpc/http/detail/json_builder.h"
#include "rpc/http/json.h"

namespace corolane::rpc {
namespace {

using Utf8 = rapidjson::UTF8<>;
using Size = rapidjson::SizeType;
using detail::JsonBuilder;
using detail::JsonScalar;

// The method names are RapidJSON's.
class Events {
 public:
  using Ch = char;

  Events(JsonBuilder& builder, rapidjson::InsituStringStream& text, bool has_escapes)
      : builder_(builder), text_(text), has_escapes_(has_escapes) {}

  // NOLINTBEGIN(readability-identifier-naming)
  bool Null() { return builder_.scalar({.kind = JsonScalar::Kind::null}); }
  bool Bool(bool truth) {
    return builder_.scalar({.kind = JsonScalar::Kind::boolean, .truth = truth});
  }
  bool RawNumber(const char* text, Size size, bool) {
    return builder_.scalar({.kind = JsonScalar::Kind::number, .text = {text, size}});
  }
  bool String(const char* text, Size size, bool) {
    return is_text({text, size}) &&
           builder_.scalar({.kind = JsonScalar::Kind::string, .text = {text, size}});
  }
  bool StartObject() { return builder_.start_object(text_.Tell()); }
  bool Key(const char* text, Size size, bool) {
    return is_text({text, size}) && builder_.key({text, size});
  }
  bool EndObject(Size) { return builder_.end_object(); }
  bool StartArray() { return builder_.start_array(); }
  bool EndArray(Size) { return builder_.end_array(); }
  // Numbers arrive as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  // NOLINTEND(readability-identifier-naming)

 private:
  // RapidJSON accepts the second half of a surrogate pair without the first.
  bool is_text(std::string_view text) {
    return !has_escapes_ || is_utf8(text) ||
           builder_.refuse("half of a surrogate pair is not valid text");
  }

  JsonBuilder& builder_;
  rapidjson::InsituStringStream& text_;
  const bool has_escapes_;
};

// In place: strings are unescaped where they are, without a copy. UTF-8 is checked before, in one
// pass: RapidJSON would do it letter by letter, at ten times the cost.
constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag |
                           rapidjson::kParseNumbersAsStringsFlag;

// The memory of larger texts is freed.
constexpr std::size_t kept_bytes_max = 64 * 1024;

// RapidJSON reads whole blocks, up to the end of the block with the zero byte after the text.
constexpr std::size_t padding_bytes = 16;

Error no_json(std::size_t place, const std::string& why) {
  return Error(Code::invalid_argument,
               "invalid JSON at byte " + std::to_string(place) + ": " + why);
}

}  // namespace

class JsonReader::Impl {
 public:
  rapidjson::Reader parser;
  std::string text;  // A copy, to be parsed in place.
  JsonBuilder builder;
};

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;

Result<void> JsonReader::read(std::string_view json, google::protobuf::Message& message) {
  if (last_size_ > kept_bytes_max) impl_ = std::make_unique<Impl>();
  last_size_ = json.size();
  if (!is_utf8(json)) {
    return Error(Code::invalid_argument, "invalid JSON: it is not UTF-8");
  }
  impl_->builder.begin(message, json);
  impl_->text.assign(json).append(padding_bytes, '\0');
  rapidjson::InsituStringStream text(impl_->text.data());
  Events events(impl_->builder, text, json.find("\\u") != std::string_view::npos);
  const rapidjson::ParseResult parsed = impl_->parser.Parse<flags>(text, events);
  if (parsed.Code() == rapidjson::kParseErrorTermination) {
    return Error(Code::invalid_argument, impl_->builder.why());
  }
  if (parsed.IsError()) return no_json(parsed.Offset(), rapidjson::GetParseError_En(parsed.Code()));
  // The parser takes a zero byte for the end.
  if (text.Tell() != json.size()) return no_json(text.Tell(), "a zero byte");
  return {};
}

}  // namespace corolane::rpc
