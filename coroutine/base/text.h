// SPDX-License-Identifier: MIT
// Shows people text that a person typed or a peer sent.
//
//   std::string message = "no map " + quote(typed);
//   if (const auto index = nearest(typed, maps)) message += "; did you mean " + maps[*index] + "?";
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/detail/debug_mode.h"

namespace corolane {

// `text` on one line of valid UTF-8 that moves no cursor: control characters and bytes that are not
// UTF-8 become \n, \t or \x with two hexadecimal digits, as in \x1b. All else stays, a backslash
// included, so the text may look like an escape.
std::string escaped(std::string_view text);

// The same in double quotes, with quotes and backslashes escaped: also a valid YAML scalar.
std::string quote(std::string_view text);

// Length of the longest prefix that is valid UTF-8 (RFC 3629); text.size() when all of it is. Takes
// eight bytes of ASCII at a time.
std::size_t utf8_length(std::string_view text);
inline bool is_utf8(std::string_view text) { return utf8_length(text) == text.size(); }

// The longest prefix of at most `bytes_max` bytes that splits no character. Text that is not UTF-8
// may be cut anywhere.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

// `text` with `replacement` for each byte that is not UTF-8; U+FFFD by default.
std::string to_utf8(std::string_view text, std::string_view replacement = "\xef\xbf\xbd");

// The index of the candidate that a person who typed `word` most likely meant. Compares by edit
// distance, ignoring case and treating '-' as '_'; the first of several equals, nothing when none
// is near.
std::optional<std::size_t> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

}  // namespace corolane
