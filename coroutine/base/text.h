// Text that a person typed or a peer sent, on its way to a person.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corolane {

// `text` on one line that is valid UTF-8 and moves no cursor: control characters and what is no
// UTF-8 become \n, \t or two hexadecimal digits, \x1b. All else stays, so it may read like one.
std::string escaped(std::string_view text);

// The same in double quotes, with quotes and backslashes escaped: also a scalar of YAML.
std::string quote(std::string_view text);

// Length of the longest prefix that is valid UTF-8 (RFC 3629); text.size() when all of it is.
std::size_t utf8_length(std::string_view text);

// The index of the candidate that a person who typed `word` most likely meant, by edit distance
// without regard to case or '-' against '_': the first of equals, nothing when none is near.
std::optional<std::size_t> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

}  // namespace corolane
