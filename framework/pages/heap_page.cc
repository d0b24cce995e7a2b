// /heap: how memory is used.
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/pages/detail/page.h"
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

struct Figure {
  const char* key;
  const char* meaning;
  std::optional<std::size_t> bytes;
};

struct Heap {
  std::string_view allocator;
  std::vector<Figure> figures;
  bool is_sampled = false;
};

Heap heap_of_jemalloc(MallocControl control) {
  std::uint64_t epoch = 1;  // Writing any value refreshes the figures.
  control("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  const auto bytes = [&](const char* name) { return read<std::size_t>(control, name); };
  return {.allocator = "jemalloc",
          .figures = {{"allocated_bytes", "in use by the program", bytes("stats.allocated")},
                      {"active_bytes", "pages with allocations in use", bytes("stats.active")},
                      {"metadata_bytes", "used by the allocator itself", bytes("stats.metadata")},
                      {"resident_bytes", "pages in memory", bytes("stats.resident")},
                      {"mapped_bytes", "address space in use", bytes("stats.mapped")},
                      {"retained_bytes", "address space that is kept", bytes("stats.retained")}},
          .is_sampled = read<bool>(control, "opt.prof").value_or(false)};
}

Heap heap_of_libc() {
  const struct mallinfo2 info = ::mallinfo2();
  return {.allocator = "libc",
          .figures = {{"allocated_bytes", "in use by the program", info.uordblks + info.hblkhd},
                      {"free_bytes", "free, kept for later allocations", info.fordblks},
                      {"mapped_bytes", "taken from the system", info.arena + info.hblkhd},
                      {"large_bytes", "of that, blocks with a mapping each", info.hblkhd},
                      {"returnable_bytes", "free at the end of the heap", info.keepcost}}};
}

constexpr std::string_view how_to_sample =
    "to see which code allocates, start the node with LD_PRELOAD=libjemalloc.so.2 "
    "MALLOC_CONF=prof:true,prof_active:true (Debian: libjemalloc2), and open "
    "/heap?format=profile\n";

net::HttpResponse heap_as_text(const Heap& heap) {
  std::vector<Row<3>> rows = {{"WHAT", "BYTES", ""}};
  for (const auto& [key, meaning, bytes] : heap.figures) {
    rows.push_back({key, bytes ? std::to_string(*bytes) : "-", meaning});
  }
  return {.body = "allocator " + std::string(heap.allocator) + "\n" + table_text(rows) +
                  std::string(heap.is_sampled ? "/heap?format=profile is a profile for jeprof\n"
                                              : how_to_sample)};
}

net::HttpResponse heap_as_json(const Heap& heap) {
  Json json = {{"allocator", heap.allocator}, {"is_sampled", heap.is_sampled}};
  for (const Figure& figure : heap.figures) {
    json[figure.key] = figure.bytes ? Json(*figure.bytes) : Json();
  }
  return json_response(json);
}

// jemalloc writes the profile to a file.
std::optional<std::string> dump_profile(MallocControl control) {
  std::string path = "/tmp/corolane-heap-XXXXXX";
  const int file = ::mkstemp(path.data());
  if (file < 0) return std::nullopt;
  ::close(file);
  const char* name = path.c_str();
  std::optional<std::string> text;
  if (control("prof.dump", nullptr, nullptr, static_cast<void*>(&name), sizeof(name)) == 0) {
    std::ifstream stream(path, std::ios::binary);
    text.emplace(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  ::unlink(path.c_str());
  return text;
}

net::HttpResponse heap_profile(Node& node, MallocControl control) {
  std::optional<std::string> profile;
  if (control != nullptr) node.run_beside([&] { profile = dump_profile(control); });
  if (profile) return {.content_type = "application/octet-stream", .body = *std::move(profile)};
  return {.status = 503,
          .body = "this process keeps no profile of its heap; " + std::string(how_to_sample)};
}

}  // namespace

Result<net::HttpResponse> heap_page(Node& node, const net::HttpRequest& request) {
  const MallocControl control = malloc_control();
  if (request.query("format") == "profile") return heap_profile(node, control);
  // Both allocators lock all arenas for a while.
  Heap heap;
  node.run_beside([&] { heap = control == nullptr ? heap_of_libc() : heap_of_jemalloc(control); });
  return in_format(request, [&] { return heap_as_json(heap); }, [&] { return heap_as_text(heap); });
}

}  // namespace corolane::framework::detail
