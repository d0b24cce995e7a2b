// As much of HTTP/1.1 as the generator and the floor need.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corolane::bench {

// How many bytes the first message of `text` has, head and body; 0 when it is not all there. A
// body has a Content-Length here.
std::size_t http_message_size(std::string_view text);

// What http/json sends, and gets back: the 100 bytes of the other calls, in base64.
std::string http_json_body();

}  // namespace corolane::bench
