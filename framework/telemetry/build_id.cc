// SPDX-License-Identifier: MIT
#include "framework/telemetry/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>
#include <utility>

namespace corolane::framework {
namespace {

std::size_t align(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

// Finds the build id among the notes of a segment; see elf(5).
std::string build_id_in(const char* notes, std::size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const std::size_t name = sizeof(note);
    const std::size_t text = name + align(note.n_namesz);
    const std::size_t end = text + align(note.n_descsz);
    if (end > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(notes + name, 3) == "GNU") {
      return {notes + text, note.n_descsz};
    }
    notes += end;
    size -= end;
  }
  return {};
}

}  // namespace

std::string own_build_id() {
  std::string found;
  // The first object is the program itself.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* place) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const auto* const notes =
              reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          std::string id = build_id_in(notes, segment.p_memsz);
          if (!id.empty()) *static_cast<std::string*>(place) = std::move(id);
        }
        return 1;
      },
      &found);
  return found;
}

}  // namespace corolane::framework
