// The time in which all tests run.
#pragma once

#include "coroutine/virtual_time.h"

namespace corolane::test {

// The clock that the tests' scheduler waits on. Mostly for an Outside: now() tells the time.
coroutine::VirtualTime& virtual_time();

}  // namespace corolane::test
