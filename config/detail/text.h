// What messages and printed values do with text that a person typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corolane::config::detail {

// `text` on one line: quotes, backslashes and control characters as YAML's escapes.
std::string escaped(std::string_view text);

// `text` as a double-quoted YAML scalar.
std::string quote(std::string_view text);

// The same for a message: cut where it is longer than a message should quote.
std::string excerpt(std::string_view text);

// Length of the longest prefix that is valid UTF-8 (RFC 3629); text.size() when all of it is.
std::size_t utf8_length(std::string_view text);

// "debug, info, error".
std::string join(const std::vector<std::string>& words);

// The candidate that a person who typed `word` most likely meant, by edit distance without regard
// to case or '-' against '_'; empty when none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace corolane::config::detail
