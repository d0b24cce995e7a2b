// Says which functions and lines the addresses of a stack trace stand for.
//
// Reads the symbol tables and the debug information (DWARF) of this program and its libraries from
// their files, or for the program from its file below /usr/lib/debug; nothing is asked of the
// network. Without debug information there are functions only, without symbols addresses.
//
// Blocks rather than suspends: the first address in each compilation unit takes milliseconds. And
// what is read takes memory: keep it for as long as there is something to name, and no longer, or
// let it rest(). Not thread-safe, but any thread may have one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "coroutine/stack/stack_trace.h"

namespace corolane::coroutine {

struct SourceFrame {
  std::string function;  // With its namespaces and classes; the address when there is no symbol.
  std::string file;      // From the root of the repository for our own; empty when not known.
  int line = 0;

  bool operator==(const SourceFrame&) const = default;
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // Innermost first, what the compiler has inlined included. Begins with the public function that
  // suspended and ends with the function that was spawned: how the scheduler switched and called
  // says nothing about a task.
  std::vector<SourceFrame> frames(const StackTrace& trace);

  // Gives back what was read, and keeps the names that were found, as long as these are not very
  // many: whoever looks at the same program again finds mostly the same ones.
  void rest();

 private:
  class DebugInfo;

  void look_up(const std::vector<std::uintptr_t>& return_addresses);

  std::unique_ptr<DebugInfo> info_;  // Null until there is something to name.
  std::unordered_map<std::uintptr_t, std::vector<SourceFrame>> known_;
};

// One line per frame, indented: "    at FUNCTION (FILE:LINE)".
std::string to_text(const std::vector<SourceFrame>& frames);

}  // namespace corolane::coroutine
