// Does something to a text, as a careless hand or a broken disk does: for tests of what reads
// texts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "test/support/random.h"

namespace corolane::test {

// One of: puts one of `splinters`, or a piece of the text itself, somewhere else into it; takes a
// piece out; changes a byte.
void mutate_text(Random& random, std::string& text, std::span<const std::string_view> splinters);

}  // namespace corolane::test
