// SPDX-License-Identifier: MIT
// Where a thread keeps what it runs: for another thread that looks while this one sleeps
// (interrupter.h). Both variables are null while the loop itself is at work.
#pragma once

namespace corolane::coroutine::detail {

class Strand;
struct TaskControl;

struct RunningPlace {
  TaskControl* const* task = nullptr;
  Strand* const* strand = nullptr;
};

}  // namespace corolane::coroutine::detail
