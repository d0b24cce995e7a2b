// SPDX-License-Identifier: MIT
// Parses YAML text into nodes. The only file that uses yaml-cpp.
//
// Supports the part of YAML that a configuration needs: one document of sections, lists and
// scalars. Anchors, aliases, tags and keys that are not text are reported, as are duplicate keys,
// tabs in the indentation and bytes that are not UTF-8. Size and nesting are bounded.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/detail/source_node.h"

namespace corolane::config::detail {

inline constexpr std::size_t document_size_bytes_max = 1024 * 1024;  // The limit of Kubernetes.

// Returns the root, or nothing when the text yields no tree; either way the problems are added to
// `problems`. Lines count from `start`, unless that has none. An empty document is a node of kind
// nothing. Needs at most 32 KiB of stack, however deep the text nests.
std::optional<SourceNode> parse_document(std::string_view text, const Place& start,
                                         std::vector<Problem>& problems);

}  // namespace corolane::config::detail
