// SPDX-License-Identifier: MIT
// Translates the addresses of a stack trace into functions and lines.
//
//   Symbols symbols;
//   if (const auto task = scheduler.task(id)) std::cout << to_text(symbols.frames(task->trace));
//
// Reads the symbol tables and the debug information (DWARF) of this program and its libraries from
// their files, or for the program from its file below /usr/lib/debug; never from the network.
// Without debug information it yields functions only, without symbols the places in their
// libraries.
//
// Blocks rather than suspends: the first address in each compilation unit takes milliseconds. The
// data that it reads takes memory: destroy it, or let it rest(), once there is nothing more to
// name. Not thread-safe, but any thread may have its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "coroutine/task_info.h"

namespace corolane::coroutine {

struct SourceFrame {
  // With its namespaces and classes. Without a symbol: the place in its library, such as
  // "libc.so.6+0x9ae6c", or the address.
  std::string function;
  std::string file;  // From the root of the repository for our own; empty when not known.
  int line = 0;
  // It stands for others, and `function` tells their number: see folded_frames.h.
  bool is_note = false;

  bool operator==(const SourceFrame&) const = default;
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The frames, innermost first, inlined functions included. Begins with the public function that
  // suspended and ends with the function that was spawned: the scheduler's own frames say nothing
  // about a task.
  std::vector<SourceFrame> frames(const StackTrace& trace);

  // Frees what was read, and keeps the names that were found unless there are very many: later
  // traces of the same program need mostly the same names.
  void rest();

 private:
  class DebugInfo;

  void look_up(const std::vector<std::uintptr_t>& return_addresses);

  std::unique_ptr<DebugInfo> info_;  // Null until there is something to name.
  std::unordered_map<std::uintptr_t, std::vector<SourceFrame>> known_;
};

// One line per frame, indented: "    at FUNCTION (FILE:LINE)", or "    (FUNCTION)" for a note.
std::string to_text(const std::vector<SourceFrame>& frames);

}  // namespace corolane::coroutine
