// SPDX-License-Identifier: MIT
// gzip, the content coding of HTTP (RFC 9110, 8.4.1.3), for bodies that are at hand as a whole.
//
//   std::string body;
//   if (auto read = net::gunzip(request.body, 64 * 1024, body); !read) return read.error();
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::net {

// Appends the content of `zipped` to `out`. Fails with resource_exhausted, without more memory than
// that, when it is longer than `bytes_max`, and with invalid_argument when it is no gzip. Never
// suspends.
Result<void> gunzip(std::string_view zipped, std::size_t bytes_max, std::string& out);

// Appends `bytes`, compressed at the lowest level: a server has little time for each answer.
void gzip(std::string_view bytes, std::string& out);

}  // namespace corolane::net
