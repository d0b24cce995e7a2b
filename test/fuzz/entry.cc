// SPDX-License-Identifier: MIT
// The function that libFuzzer calls, as does replay.cc.
#include "test/fuzz/entry.h"

#include "test/fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corolane::fuzz::run(corolane::fuzz::Input(std::as_bytes(std::span(data, size))));
  return 0;
}
