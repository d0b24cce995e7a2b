// SPDX-License-Identifier: MIT
#include "rpc/http/detail/json_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "coroutine/base/encoding.h"

namespace corolane::rpc::detail {
namespace {

namespace pb = google::protobuf;

// --- google.protobuf.Timestamp and Duration: seconds and nanos.

struct SplitTime {
  std::int64_t seconds;
  std::int32_t nanos;
};

constexpr std::int32_t nanos_per_second = 1'000'000'000;

SplitTime split_time_of(const pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  const pb::Descriptor& type = *message.GetDescriptor();
  return {.seconds = reflection.GetInt64(message, type.FindFieldByNumber(1)),
          .nanos = reflection.GetInt32(message, type.FindFieldByNumber(2))};
}

void set_split_time(pb::Message& message, SplitTime time) {
  const pb::Reflection& reflection = *message.GetReflection();
  const pb::Descriptor& type = *message.GetDescriptor();
  if (time.seconds != 0) {
    reflection.SetInt64(&message, type.FindFieldByNumber(1), time.seconds);
  }
  if (time.nanos != 0) reflection.SetInt32(&message, type.FindFieldByNumber(2), time.nanos);
}

bool is_timestamp(SplitTime time) {
  return time.seconds >= pb::util::TimeUtil::kTimestampMinSeconds &&
         time.seconds <= pb::util::TimeUtil::kTimestampMaxSeconds && time.nanos >= 0 &&
         time.nanos < nanos_per_second;
}

bool is_duration(SplitTime time) {
  const bool has_one_sign =
      (time.seconds >= 0 && time.nanos >= 0) || (time.seconds <= 0 && time.nanos <= 0);
  return has_one_sign && time.seconds >= pb::util::TimeUtil::kDurationMinSeconds &&
         time.seconds <= pb::util::TimeUtil::kDurationMaxSeconds &&
         time.nanos > -nanos_per_second && time.nanos < nanos_per_second;
}

template <typename Time>
Time time_of(SplitTime split) {
  Time time;
  time.set_seconds(split.seconds);
  time.set_nanos(split.nanos);
  return time;
}

template <typename Time>
bool read_time(std::string_view text, bool (*is_valid)(SplitTime), pb::Message& message) {
  Time time;
  if (!pb::util::TimeUtil::FromString(std::string(text), &time)) return false;
  const SplitTime split{.seconds = time.seconds(), .nanos = time.nanos()};
  if (!is_valid(split)) return false;
  set_split_time(message, split);
  return true;
}

// --- google.protobuf.FieldMask: paths of field names.

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Appends "foo_bar" as "fooBar"; false when the result could not be read back.
bool append_camel_case(std::string& text, std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (is_upper(path[i])) return false;
    if (path[i] != '_') {
      text += path[i];
      continue;
    }
    ++i;
    if (i == path.size() || !is_lower(path[i])) return false;
    text += static_cast<char>(path[i] - 'a' + 'A');
  }
  return true;
}

bool append_mask(std::string& text, const pb::Message& mask) {
  const pb::FieldDescriptor* const paths = mask.GetDescriptor()->FindFieldByNumber(1);
  const pb::Reflection& reflection = *mask.GetReflection();
  for (int i = 0; i < reflection.FieldSize(mask, paths); ++i) {
    if (i > 0) text += ',';
    if (!append_camel_case(text, reflection.GetRepeatedString(mask, paths, i))) return false;
  }
  return true;
}

bool read_mask(std::string_view text, pb::Message& mask) {
  const pb::FieldDescriptor* const paths = mask.GetDescriptor()->FindFieldByNumber(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string path;
    for (const char c : text.substr(0, end)) {
      if (c == '_') return false;
      if (is_upper(c)) path += '_';
      path += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (path.empty()) return false;
    mask.GetReflection()->AddString(&mask, paths, std::move(path));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

void append_json_string(std::string& json, std::string_view text) {
  json += '"';
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    json.append(text.substr(begin, i - begin));
    begin = i + 1;
    if (c == '"' || c == '\\') {
      json += '\\';
      json += text[i];
    } else if (c == '\n') {
      json += "\\n";
    } else {
      append_hex(json.append("\\u00"), c);
    }
  }
  json.append(text.substr(begin)).append("\"");
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t bytes_max = 40;
  std::string shown(text.substr(0, bytes_max));
  if (text.size() <= bytes_max) return shown;
  // Does not cut in the middle of a character.
  while (!shown.empty() && (shown.back() & 0x80) != 0) shown.pop_back();
  return shown + "...";
}

bool append_well_known_text(std::string& text, const pb::Message& message) {
  switch (message.GetDescriptor()->well_known_type()) {
    case pb::Descriptor::WELLKNOWNTYPE_TIMESTAMP: {
      const SplitTime time = split_time_of(message);
      if (!is_timestamp(time)) return false;
      text += pb::util::TimeUtil::ToString(time_of<pb::Timestamp>(time));
      return true;
    }
    case pb::Descriptor::WELLKNOWNTYPE_DURATION: {
      const SplitTime time = split_time_of(message);
      if (!is_duration(time)) return false;
      text += pb::util::TimeUtil::ToString(time_of<pb::Duration>(time));
      return true;
    }
    case pb::Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return append_mask(text, message);
    default:
      return false;
  }
}

bool read_well_known_text(std::string_view text, pb::Message& message) {
  switch (message.GetDescriptor()->well_known_type()) {
    case pb::Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return read_time<pb::Timestamp>(text, is_timestamp, message);
    case pb::Descriptor::WELLKNOWNTYPE_DURATION:
      return read_time<pb::Duration>(text, is_duration, message);
    case pb::Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return read_mask(text, message);
    default:
      return false;
  }
}

}  // namespace corolane::rpc::detail
