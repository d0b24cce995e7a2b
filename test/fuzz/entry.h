// SPDX-License-Identifier: MIT
// The entry point that libFuzzer expects (https://llvm.org/docs/LibFuzzer.html).
#pragma once

#include <cstddef>
#include <cstdint>

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
