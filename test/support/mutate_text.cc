// The four things that may happen to any text.
#include "test/support/mutate_text.h"

#include <cstddef>

namespace corolane::test {

void mutate_text(Random& random, std::string& text, std::span<const std::string_view> splinters) {
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random.below(end)); };
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = below(12);
  switch (below(4)) {
    case 0:
      text.insert(at, splinters[below(splinters.size())]);
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(below(text.size() + 1), length * 4));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(below(256));
  }
}

}  // namespace corolane::test
