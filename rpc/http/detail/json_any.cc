// SPDX-License-Identifier: MIT
#include "rpc/http/detail/json_any.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <utility>

#include "coroutine/base/text.h"
#include "rpc/http/json.h"

namespace corolane::rpc::detail {

namespace pb = google::protobuf;
using Size = rapidjson::SizeType;

std::unique_ptr<pb::Message> make_content(const pb::Message& root, std::string_view url) {
  const std::size_t slash = url.rfind('/');
  if (slash == std::string_view::npos) return nullptr;
  const std::string name(url.substr(slash + 1));
  const auto* const type = root.GetDescriptor()->file()->pool()->FindMessageTypeByName(name);
  if (type == nullptr || type->options().map_entry()) return nullptr;
  const auto* const prototype = root.GetReflection()->GetMessageFactory()->GetPrototype(type);
  return std::unique_ptr<pb::Message>(prototype == nullptr ? nullptr : prototype->New());
}

bool has_own_json(const pb::Message& content) {
  return content.GetDescriptor()->well_known_type() !=
         pb::Descriptor::WellKnownType::WELLKNOWNTYPE_UNSPECIFIED;
}

// The method names are RapidJSON's.
class LateTypes::Events : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Events> {
 public:
  Events(LateTypes& found, const rapidjson::MemoryStream& text) : found_(found), text_(text) {}

  // NOLINTBEGIN(readability-identifier-naming)
  bool Default() {
    is_type_next_ = false;
    return true;
  }
  bool RawNumber(const char*, Size, bool) { return Default(); }
  bool String(const char* text, Size size, bool) {
    if (std::exchange(is_type_next_, false) && is_utf8({text, size})) {
      found_.types_.push_back(
          {.object_begin = open_.back().begin, .begin = found_.urls_.size(), .size = size});
      found_.urls_.append(text, size);
    }
    return true;
  }
  bool StartObject() { return open(); }
  bool Key(const char* text, Size size, bool) {
    // A second one is refused when the parser comes to it.
    is_type_next_ =
        std::string_view(text, size) == "@type" && !std::exchange(open_.back().has_type, true);
    return true;
  }
  bool EndObject(Size) { return close(); }
  bool StartArray() { return open(); }
  bool EndArray(Size) { return close(); }
  // NOLINTEND(readability-identifier-naming)

 private:
  struct Open {
    std::size_t begin;
    bool has_type;
  };

  bool open() {
    is_type_next_ = false;
    if (open_.size() == json_depth_max) return false;
    open_.push_back({.begin = text_.Tell(), .has_type = false});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  LateTypes& found_;
  const rapidjson::MemoryStream& text_;
  std::vector<Open> open_;
  bool is_type_next_ = false;
};

void LateTypes::begin(std::string_view json) {
  json_ = json;
  is_read_ = false;
}

Result<std::string_view> LateTypes::find(std::size_t object_begin) {
  if (!std::exchange(is_read_, true)) {
    if (auto done = read(); !done) return done.error();
  }
  const auto type = std::ranges::lower_bound(types_, object_begin, {}, &Type::object_begin);
  if (type == types_.end() || type->object_begin != object_begin) return std::string_view();
  return std::string_view(urls_).substr(type->begin, type->size);
}

Result<void> LateTypes::read() {
  types_.clear();
  urls_.clear();
  // Its strings are unescaped into memory of the parser: the text stays whole.
  rapidjson::MemoryStream text(json_.data(), json_.size());
  Events events(*this, text);
  rapidjson::Reader parser;
  const rapidjson::ParseResult parsed = parser.Parse < rapidjson::kParseIterativeFlag |
                                        rapidjson::kParseNumbersAsStringsFlag > (text, events);
  if (parsed.Code() == rapidjson::kParseErrorTermination) {
    return Error(Code::invalid_argument, "nested too deeply");
  }
  if (parsed.IsError()) {
    return Error(Code::invalid_argument, "invalid JSON at byte " + std::to_string(parsed.Offset()) +
                                             ": " + rapidjson::GetParseError_En(parsed.Code()));
  }
  std::ranges::sort(types_, {}, &Type::object_begin);
  return {};
}

}  // namespace corolane::rpc::detail
