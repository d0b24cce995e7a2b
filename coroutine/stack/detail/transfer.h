// SPDX-License-Identifier: MIT
// What a flow receives from the one that jumped to it.
#pragma once

namespace corolane::coroutine::detail {

// Passed to the other stack: the frame that was left, and the data of the jump.
struct Transfer {
  void* left;
  void* data;
};

}  // namespace corolane::coroutine::detail
