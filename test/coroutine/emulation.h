// SPDX-License-Identifier: MIT
// Whether an emulator runs this program: the kernel then tells of the emulator's own registers.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace corolane::test {

// The file that the kernel has started is for another processor than this code.
inline bool is_emulated() {
#if defined(__x86_64__)
  constexpr Elf64_Half own = EM_X86_64;
#else
  constexpr Elf64_Half own = EM_AARCH64;
#endif
  Elf64_Ehdr header = {};
  const int file = ::open("/proc/1/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_read = ::read(file, &header, sizeof(header)) == sizeof(header);
  ::close(file);
  return is_read && header.e_machine != own;
}

}  // namespace corolane::test
