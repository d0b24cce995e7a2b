// SPDX-License-Identifier: MIT
// Random messages of a type, for properties that hold for all messages.
#pragma once

#include <google/protobuf/message.h>

#include "coroutine/testing/random.h"

namespace corolane::test {

// Sets some of the fields of `message`, and of messages inside it down to `depth`. Avoids values
// that JSON cannot carry (text that is not UTF-8, times out of range), and leaves each Any empty.
void fill_with_random(google::protobuf::Message& message, Random& random, int depth);

}  // namespace corolane::test
