// SPDX-License-Identifier: MIT
// How many sockets and files the process may have open.
//
//   std::cout << "up to " << raise_descriptor_limit() << " sockets\n";
#pragma once

#include <cstdint>

namespace corolane::net {

// Raises the soft limit to the hard one: the usual soft limit of 1,024 is kept low for programs
// that use select(). Returns the limit that is then in force.
std::uint64_t raise_descriptor_limit();

}  // namespace corolane::net
