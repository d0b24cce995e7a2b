// The time in which all tests run.
#pragma once

#include "coroutine/virtual_time.h"

namespace corolane::test {

// What the scheduler of the tests waits on. For an Outside, mostly: now() tells the time.
coroutine::VirtualTime& virtual_time();

}  // namespace corolane::test
