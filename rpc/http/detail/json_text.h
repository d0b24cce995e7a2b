// SPDX-License-Identifier: MIT
// Values that JSON writes as text although they are not strings in protobuf.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace corolane::rpc::detail {

// In quotes. The text is UTF-8.
void append_json_string(std::string& json, std::string_view text);

// The beginning of a text, short enough for an error.
std::string shown_text(std::string_view text);

// google.protobuf.Timestamp, Duration and FieldMask: "2026-11-21T12:00:00Z", "1.5s", "a.b,cD".
// False when the message, or the text, is not of that kind.
bool append_well_known_text(std::string& text, const google::protobuf::Message& message);
bool read_well_known_text(std::string_view text, google::protobuf::Message& message);

}  // namespace corolane::rpc::detail
