// SPDX-License-Identifier: MIT
// The time in which all tests run.
//
//   coroutine::VirtualTime::Outside outside(virtual_time());  // Another thread is at work.
//   std::thread thread([&scheduler] { scheduler.post([] { ready.set(); }); });
#pragma once

#include "coroutine/virtual_time.h"

namespace corolane::test {

// The clock that the tests' scheduler waits on. Mostly for an Outside: now() tells the time.
coroutine::VirtualTime& virtual_time();

}  // namespace corolane::test
