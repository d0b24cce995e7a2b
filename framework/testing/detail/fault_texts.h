// SPDX-License-Identifier: MIT
// The files of framework/testing/faults/, compiled in (embed_faults.cmake).
#pragma once

#include <span>
#include <string_view>

namespace corolane::sim {

struct FaultText {
  std::string_view name;  // The file's name without .yaml.
  std::string_view text;
};

std::span<const FaultText> fault_texts();

}  // namespace corolane::sim
