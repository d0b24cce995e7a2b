// SPDX-License-Identifier: MIT
// The parts of HTTP/1.1 that the generator and the floor need.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace corolane::bench {

// Returns the size of the first message of `text`, head and body; 0 when it is incomplete. A body
// needs a Content-Length.
std::size_t http_message_size(std::string_view text);

// A POST of that body to Echo/`method` by the Connect protocol.
std::string http_json_request(std::string_view method, std::chrono::milliseconds deadline);

// The body of requests and replies of http/json: the 100 bytes of the other calls, in base64.
std::string http_json_body();

}  // namespace corolane::bench
