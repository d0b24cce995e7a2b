// SPDX-License-Identifier: MIT
// /heap: how memory is used.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"

namespace corolane::framework::detail {
namespace {

// jemalloc(3), mallctl(): looked up by name, since nothing links it.
using MallocControl = int (*)(const char* name, void* old, std::size_t* old_size, void* next,
                              std::size_t next_size);

MallocControl malloc_control() {
  return reinterpret_cast<MallocControl>(::dlsym(RTLD_DEFAULT, "mallctl"));
}

template <typename T>
std::optional<T> read(MallocControl control, const char* name) {
  T value{};
  std::size_t size = sizeof(value);
  if (control(name, &value, &size, nullptr, 0) != 0 || size != sizeof(value)) return std::nullopt;
  return value;
}

bool is_sampled(MallocControl control) { return read<bool>(control, "opt.prof").value_or(false); }

Json heap_of_jemalloc(MallocControl control) {
  std::uint64_t epoch = 1;  // Writing any value refreshes the figures.
  control("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  const auto bytes = [&](const char* name) {
    const auto value = read<std::size_t>(control, name);
    return value ? Json(*value) : Json();
  };
  return {{"allocator", "jemalloc"},
          {"is_sampled", is_sampled(control)},
          {"allocated_bytes", bytes("stats.allocated")},
          {"active_bytes", bytes("stats.active")},
          {"metadata_bytes", bytes("stats.metadata")},
          {"resident_bytes", bytes("stats.resident")},
          {"mapped_bytes", bytes("stats.mapped")},
          {"retained_bytes", bytes("stats.retained")}};
}

Json heap_of_libc() {
  const struct mallinfo2 info = ::mallinfo2();
  return {{"allocator", "libc"},
          {"is_sampled", false},
          {"allocated_bytes", info.uordblks + info.hblkhd},
          {"free_bytes", info.fordblks},
          {"mapped_bytes", info.arena + info.hblkhd},
          {"large_bytes", info.hblkhd},
          {"returnable_bytes", info.keepcost}};
}

// The meaning of each figure of either allocator.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> figures = {
    {{"allocated_bytes", "in use by the program"},
     {"active_bytes", "pages with allocations in use"},
     {"metadata_bytes", "used by the allocator itself"},
     {"resident_bytes", "pages in memory"},
     {"free_bytes", "free, kept for later allocations"},
     {"mapped_bytes", "address space in use"},
     {"large_bytes", "of that, blocks with a mapping each"},
     {"returnable_bytes", "free at the end of the heap"},
     {"retained_bytes", "address space that is kept"}}};

constexpr std::string_view how_to_sample =
    "to see which code allocates, start the node with LD_PRELOAD=libjemalloc.so.2 "
    "MALLOC_CONF=prof:true,prof_active:true (Debian: libjemalloc2), and open "
    "/heap?format=profile\n";

std::string heap_text(const Json& heap) {
  std::vector<std::vector<std::string>> lines = {{"WHAT", "BYTES", ""}};
  for (const auto& [key, meaning] : figures) {
    if (const Json& bytes = heap.at(key); !bytes.is_null()) {
      lines.push_back({std::string(key), cell_text(bytes), std::string(meaning)});
    }
  }
  return "allocator " + cell_text(heap.at("allocator")) + "\n" + aligned_text(lines) +
         std::string(heap.at("is_sampled").is_true()
                         ? "/heap?format=profile is a profile for jeprof\n"
                         : how_to_sample);
}

// jemalloc writes the profile to a file by its name: here, one in memory.
Result<std::string> dump_profile(MallocControl control) {
  const int file = ::memfd_create("heap profile", MFD_CLOEXEC);
  if (file < 0) {
    return Error(Code::resource_exhausted,
                 "no file in memory: " + std::generic_category().message(errno));
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const char* name = path.c_str();
  const int failure =
      control("prof.dump", nullptr, nullptr, static_cast<void*>(&name), sizeof(name));
  std::string profile;
  if (failure == 0) {
    std::ifstream stream(path, std::ios::binary);
    profile.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  ::close(file);
  if (failure != 0) {
    return Error(Code::internal,
                 "jemalloc writes no profile: " + std::generic_category().message(failure));
  }
  return profile;
}

net::HttpResponse heap_profile(Node& node, MallocControl control) {
  if (control == nullptr || !is_sampled(control)) {
    return {.status = 503,
            .body = "this process keeps no profile of its heap; " + std::string(how_to_sample)};
  }
  Result<std::string> profile;
  node.run_beside([&] { profile = dump_profile(control); });
  if (!profile) return {.status = 503, .body = std::string(profile.error().message()) + "\n"};
  return {.content_type = "application/octet-stream", .body = *std::move(profile)};
}

}  // namespace

Result<net::HttpResponse> heap_page(Node& node, const net::HttpRequest& request) {
  const MallocControl control = malloc_control();
  if (request.query("format") == "profile") return heap_profile(node, control);
  // Both allocators lock all arenas for a while.
  Json heap;
  node.run_beside([&] { heap = control == nullptr ? heap_of_libc() : heap_of_jemalloc(control); });
  return in_format(request, heap, heap_text);
}

}  // namespace corolane::framework::detail
