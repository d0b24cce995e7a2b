// SPDX-License-Identifier: MIT
// Reads a secret, such as a key or a password, from a file that the configuration names.
//
//   auto token = read_secret(config.token_file, "node.admin.token_file", 16);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::framework::detail {

// The content of the file without the line break of an editor; empty when `path` is. Blocks the
// thread on the disk. Fails with invalid_argument when the file cannot be read, or holds fewer than
// `bytes_min` bytes; the message begins with `key`.
Result<std::string> read_secret(const std::string& path, std::string_view key,
                                std::size_t bytes_min = 1);

}  // namespace corolane::framework::detail
