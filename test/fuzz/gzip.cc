// SPDX-License-Identifier: MIT
// gzip in requests: what is read is within the limit, and is read back when it is compressed again.
//
// Input: the bytes.
#include "net/http/gzip.h"

#include <string>

#include "coroutine/base/check.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {

void run(Input input) {
  constexpr std::size_t bytes_max = 64 * 1024;
  std::string content;
  const auto read = net::gunzip(text_of(input.rest()), bytes_max, content);
  check(content.size() <= bytes_max + 1, "no more than the limit is kept");
  if (!read) return;
  check(content.size() <= bytes_max, "what is read is within the limit");
  std::string zipped;
  net::gzip(content, zipped);
  std::string again;
  check(net::gunzip(zipped, bytes_max, again).has_value() && again == content,
        "what was compressed is read back");
  if (zipped.size() < 2) return;
  std::string cut_off;
  check(!net::gunzip(std::string_view(zipped).substr(0, zipped.size() - 1), bytes_max, cut_off),
        "a gzip that is cut off is refused");
}

}  // namespace corolane::fuzz
