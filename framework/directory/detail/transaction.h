// SPDX-License-Identifier: MIT
// Checks and errors that all backends of the directory share.
#pragma once

#include <span>
#include <string>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"

namespace corolane::framework::detail {

// Fails with invalid_argument when the transaction is too large or would change a key twice.
Result<void> check_transaction(const Directory::Transaction& transaction);

// Fails with invalid_argument when these are more keys than one request may read.
Result<void> check_read(std::span<const std::string> keys);

Error lease_not_found(Directory::Lease lease);

}  // namespace corolane::framework::detail
