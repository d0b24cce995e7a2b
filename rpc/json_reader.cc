// JsonReader: RapidJSON cuts the text, iteratively; detail/json_builder.h fills the message.
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <string>
#include <utility>

#include "rpc/detail/json_builder.h"
#include "rpc/json.h"

namespace corolane::rpc {
namespace {

using Utf8 = rapidjson::UTF8<>;
using Size = rapidjson::SizeType;
using detail::JsonBuilder;
using detail::JsonScalar;

// The names are RapidJSON's.
class Events {
 public:
  using Ch = char;

  explicit Events(JsonBuilder& builder) : builder_(builder) {}

  // NOLINTBEGIN(readability-identifier-naming)
  bool Null() { return builder_.scalar({.kind = JsonScalar::Kind::null}); }
  bool Bool(bool truth) {
    return builder_.scalar({.kind = JsonScalar::Kind::boolean, .truth = truth});
  }
  bool RawNumber(const char* text, Size size, bool) {
    return builder_.scalar({.kind = JsonScalar::Kind::number, .text = {text, size}});
  }
  bool String(const char* text, Size size, bool) {
    return builder_.scalar({.kind = JsonScalar::Kind::string, .text = {text, size}});
  }
  bool StartObject() { return builder_.start_object(); }
  bool Key(const char* text, Size size, bool) { return builder_.key({text, size}); }
  bool EndObject(Size) { return builder_.end_object(); }
  bool StartArray() { return builder_.start_array(); }
  bool EndArray(Size) { return builder_.end_array(); }
  // Numbers come as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  // NOLINTEND(readability-identifier-naming)

 private:
  JsonBuilder& builder_;
};

constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                           rapidjson::kParseNumbersAsStringsFlag;

// A parser keeps room for the longest string that it has seen.
constexpr std::size_t kept_bytes_max = 64 * 1024;

Error no_json(std::size_t place, const std::string& why) {
  return Error(Code::invalid_argument,
               "this is no JSON, at byte " + std::to_string(place) + ": " + why);
}

}  // namespace

class JsonReader::Impl {
 public:
  rapidjson::Reader parser;
  JsonBuilder builder;
};

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;

Result<void> JsonReader::read(std::string_view json, google::protobuf::Message& message) {
  if (last_size_ > kept_bytes_max) impl_ = std::make_unique<Impl>();
  last_size_ = json.size();
  impl_->builder.begin(message);
  Events events(impl_->builder);
  rapidjson::MemoryStream text(json.data(), json.size());
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
