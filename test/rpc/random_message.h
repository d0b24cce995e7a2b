// Any message of a type, for what has to hold of all.
#pragma once

#include <google/protobuf/message.h>

#include "coroutine/testing/random.h"

namespace corolane::test {

// Sets some of the fields of `message`, those of messages inside of it down to `depth`. What JSON
// cannot carry (Any, text that is no UTF-8, times out of range) does not come up.
void fill_with_random(google::protobuf::Message& message, Random& random, int depth);

}  // namespace corolane::test
