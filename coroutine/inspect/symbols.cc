// SPDX-License-Identifier: MIT
// All the code that uses libdw (elfutils).
#include "coroutine/inspect/symbols.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace corolane::coroutine {
namespace {

// --- Frames of a trace

// The scheduler's own functions between the public function that suspends and the jump.
bool is_switch(const SourceFrame& frame) {
  constexpr std::array names{"corolane::coroutine::detail::",
                             "corolane::coroutine::Scheduler::",
                             "corolane::coroutine::TimerWheel::",
                             "corolane::coroutine::WaitQueue::",
                             "corolane::coroutine::perform<",
                             "corolane::coroutine::Mutex::lock_until",
                             "corolane::coroutine::SharedMutex::lock_until"};
  return std::ranges::any_of(names,
                             [&](const char* name) { return frame.function.starts_with(name); });
}

// The functions that call a task's function.
bool is_begin(const SourceFrame& frame) {
  return frame.function.starts_with("corolane::coroutine::detail::TaskFrame<") ||
         frame.function.starts_with("corolane::coroutine::detail::Switcher::enter_task");
}

SourceFrame nameless(std::uintptr_t address) {
  std::array<char, 32> number;
  std::snprintf(number.data(), number.size(), "0x%zx", address);
  return {.function = number.data(), .file = {}};
}

bool is_of_std(const SourceFrame& frame) { return frame.function.starts_with("std::"); }

// --- Parts of the debug information

// This path finds the program even when its file has been replaced.
constexpr const char* program_path = "/proc/self/exe";

// Finds debug information that was split from its file, in the file system only: libdw's standard
// callback would also ask a server. System libraries are skipped: their information is large and
// tells little.
int find_separate(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base,
                  const char* path, const char* link, GElf_Word check, char** found) {
  if (std::string_view(name) != program_path) return -1;
  return dwfl_build_id_find_debuginfo(module, data, name, base, path, link, check, found);
}

constexpr Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                      .find_debuginfo = find_separate,
                                      .section_address = nullptr,
                                      .debuginfo_path = nullptr};

int report_object(dl_phdr_info* object, std::size_t, void* session) {
  const bool is_program = object->dlpi_name == nullptr || *object->dlpi_name == '\0';
  const char* const path = is_program ? program_path : object->dlpi_name;
  // Fails for objects without a file (vdso): their addresses stay unnamed.
  dwfl_report_elf(static_cast<Dwfl*>(session), path, path, -1, object->dlpi_addr, true);
  return 0;
}

std::string demangled(const char* symbol) {
  const std::unique_ptr<char, decltype([](char* text) { std::free(text); })> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr));
  return text == nullptr ? symbol : text.get();
}

// Turns "int a::f<int>(int) const" into "a::f<int>".
std::string without_types(std::string_view text) {
  std::size_t begin = text.rfind(')');
  if (begin == std::string_view::npos) return std::string(text);
  for (int depth = 1; depth > 0 && begin > 0;) {
    --begin;
    if (text[begin] == ')') ++depth;
    if (text[begin] == '(') --depth;
  }
  text = text.substr(0, begin);
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (std::string_view(")>}").contains(text[i])) ++depth;
    if (std::string_view("(<{").contains(text[i])) --depth;
    if (text[i] == ' ' && depth == 0) return std::string(text.substr(i + 1));
  }
  return std::string(text);
}

std::string from_root(const char* file) {
  constexpr std::string_view this_file = __FILE__;
  constexpr std::string_view root = this_file.substr(
      0, this_file.size() - std::string_view("coroutine/inspect/symbols.cc").size());
  std::string_view rest = file == nullptr ? "" : file;
  if (rest.starts_with(root)) rest.remove_prefix(root.size());
  return std::string(rest);
}

struct Place {
  std::string file;
  int line = 0;
};

Place place_of(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Line* const line = dwarf_getsrc_die(unit, address);
  if (line == nullptr) return {};
  Place place{.file = from_root(dwarf_linesrc(line, nullptr, nullptr))};
  dwarf_lineno(line, &place.line);
  return place;
}

// The place where an inlined function was called.
Place place_of_call(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
      dwarf_getsrcfiles(unit, &files, nullptr) != 0) {
    return {};
  }
  return {.file = from_root(dwarf_filesrc(files, file, nullptr, nullptr)),
          .line = static_cast<int>(line)};
}

// The declaration that names an inlined function, or one that was instantiated elsewhere.
Dwarf_Die declaration_of(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_abstract_origin, DW_AT_specification}) {
    Dwarf_Die origin;
    if (dwarf_formref_die(dwarf_attr(&die, name, &attribute), &origin) != nullptr) die = origin;
  }
  return die;
}

bool is_code(int tag) {
  return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
         tag == DW_TAG_inlined_subroutine;
}

bool is_scope(int tag) {
  return is_code(tag) || tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
         tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

// Calls visit(child) for each child.
template <typename Visit>
void for_each_child(Dwarf_Die die, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// One compilation unit: the places of its functions, and the scope around each.
//
// libdw's own search (dwarf_getscopes) misses every lambda: its code lies outside the function that
// contains it. It would also read the whole unit again for each function. Here the unit is read
// once; entries without code, which are most of it, are only recorded by their offset.
class Unit {
 public:
  explicit Unit(Dwarf_Die& unit) : unit_(unit) { read(unit, no_scope, false); }

  // The function around `address`, followed by the functions inlined there, outermost first.
  std::vector<Dwarf_Die> functions_at(Dwarf_Addr address) const {
    std::vector<Dwarf_Die> functions;
    const auto found = std::ranges::find_if(functions_, [&](const Function& function) {
      return function.begin <= address && address < function.end;
    });
    if (found == functions_.end()) return functions;
    functions.push_back(found->die);
    descend(found->die, address, functions);
    return functions;
  }

  std::string name_of(const Dwarf_Die& function) const {
    Dwarf_Die own = declaration_of(function);
    const char* const own_name = dwarf_diename(&own);
    std::string name = own_name == nullptr ? "?" : own_name;
    bool is_enclosed = false;
    for (auto around = scope_around(own); around; around = scope_around(*around)) {
      around = declaration_of(*around);
      const int tag = dwarf_tag(&*around);
      if (tag == DW_TAG_lexical_block) continue;
      const char* outer = dwarf_diename(&*around);
      if (outer == nullptr) outer = tag == DW_TAG_namespace ? "(anonymous namespace)" : "<lambda>";
      name.insert(0, "::").insert(0, outer);
      is_enclosed = true;
    }
    if (is_enclosed) return name;
    // With little debug information (-g1) only the linkage name contains the namespace.
    Dwarf_Attribute attribute;
    const char* const symbol =
        dwarf_formstring(dwarf_attr_integrate(&own, DW_AT_linkage_name, &attribute));
    return symbol == nullptr ? name : without_types(demangled(symbol));
  }

 private:
  struct Function {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die die;
  };
  struct Scope {
    Dwarf_Off offset;
    Dwarf_Die die;
    std::size_t around;  // Its index in scopes_.
  };
  static constexpr auto no_scope = static_cast<std::size_t>(-1);

  // The functions of a class are declared in it and defined after it, except those of a local
  // class.
  void read(Dwarf_Die& die, std::size_t around, bool is_local) {
    for_each_child(die, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      if (!is_scope(tag)) return;
      const bool is_class = !is_code(tag) && tag != DW_TAG_namespace;
      scopes_.push_back({.offset = dwarf_dieoffset(&child), .die = child, .around = around});
      if (tag == DW_TAG_subprogram) add_ranges(child);
      // Entries below an inlined function have no code of their own either.
      if (tag == DW_TAG_inlined_subroutine || (is_class && !is_local)) return;
      read(child, scopes_.size() - 1, is_local || is_code(tag));
    });
  }

  void add_ranges(Dwarf_Die& die) {
    Function function{.begin = 0, .end = 0, .die = die};
    Dwarf_Addr base = 0;
    for (std::ptrdiff_t at = 0;
         (at = dwarf_ranges(&die, at, &base, &function.begin, &function.end)) > 0;) {
      functions_.push_back(function);
    }
  }

  // Nothing when the scope is the whole unit, or part of another unit.
  std::optional<Dwarf_Die> scope_around(Dwarf_Die die) const {
    if (die.cu != unit_.cu) return std::nullopt;
    const Dwarf_Off offset = dwarf_dieoffset(&die);
    // In file order: the last scope that begins before the entry contains it, unless it is the
    // entry itself.
    const auto behind = std::ranges::upper_bound(scopes_, offset, {}, &Scope::offset);
    if (behind == scopes_.begin()) return std::nullopt;
    const Scope& scope = *std::prev(behind);
    if (scope.offset != offset) return scope_in(scope.die, offset);
    if (scope.around == no_scope) return std::nullopt;
    return scopes_[scope.around].die;
  }

  // The entry below `scope` that directly contains the one at `offset`.
  static Dwarf_Die scope_in(Dwarf_Die scope, Dwarf_Off offset) {
    for (;;) {
      std::optional<Dwarf_Die> last;
      for_each_child(scope, [&](Dwarf_Die& child) {
        if (dwarf_dieoffset(&child) <= offset) last = child;
      });
      if (!last || dwarf_dieoffset(&*last) == offset) return scope;
      scope = *last;
    }
  }

  static void descend(Dwarf_Die die, Dwarf_Addr address, std::vector<Dwarf_Die>& functions) {
    for_each_child(die, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      const bool is_part = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
      if (!is_part || dwarf_haspc(&child, address) <= 0) return;
      if (tag == DW_TAG_inlined_subroutine) functions.push_back(child);
      descend(child, address, functions);
    });
  }

  Dwarf_Die unit_;
  std::vector<Function> functions_;
  std::vector<Scope> scopes_;  // In the order of the file.
};

}  // namespace

// --- The whole process

class Symbols::DebugInfo {
 public:
  DebugInfo() : session_(dwfl_begin(&callbacks)) {
    if (session_ == nullptr) return;
    dwfl_report_begin(session_.get());
    dl_iterate_phdr(&report_object, session_.get());
    dwfl_report_end(session_.get(), nullptr, nullptr);
  }

  // Innermost first; empty when nothing is known.
  std::vector<SourceFrame> frames_at(Dwarf_Addr address) {
    Dwfl_Module* const module =
        session_ == nullptr ? nullptr : dwfl_addrmodule(session_.get(), address);
    if (module == nullptr) return {};

    Dwarf_Addr bias = 0;
    Dwarf_Die* const die = unit_at(module, address, bias);
    std::vector<SourceFrame> frames;
    Place place;
    if (die != nullptr) {
      frames = frames_in(*die, address - bias);
      place = place_of(die, address - bias);
    }
    const char* const symbol = dwfl_module_addrname(module, address);
    if (frames.empty() && symbol != nullptr) {
      frames.push_back({.function = demangled(symbol), .file = place.file, .line = place.line});
    }
    if (frames.empty()) frames = frames_of_library(module, address);
    return frames;
  }

 private:
  struct End {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  struct CodeOfUnit {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die* unit;
  };

  // "libc.so.6+0x9ae6c": libraries without their full table of symbols name what they export only.
  static std::vector<SourceFrame> frames_of_library(Dwfl_Module* module, Dwarf_Addr address) {
    Dwarf_Addr begin = 0;
    const std::string_view path =
        dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (path == program_path) return {};
    std::array<char, 32> offset;
    std::snprintf(offset.data(), offset.size(), "+0x%zx", address - begin);
    return {
        {.function = std::string(path.substr(path.rfind('/') + 1)) + offset.data(), .file = {}}};
  }

  // libdw finds units by the section .debug_aranges alone, which clang does not write. For code of
  // clang it finds none, or the unit of GCC that lies before it.
  Dwarf_Die* unit_at(Dwfl_Module* module, Dwarf_Addr address, Dwarf_Addr& bias) {
    Dwarf_Die* const indexed = dwfl_module_addrdie(module, address, &bias);
    if (indexed != nullptr && dwarf_haspc(indexed, address - bias) > 0) return indexed;
    if (dwfl_module_getdwarf(module, &bias) == nullptr) return nullptr;
    const auto [found, is_new] = code_.try_emplace(module);
    std::vector<CodeOfUnit>& code = found->second;
    if (is_new) code = code_of_units(module);
    const auto behind = std::ranges::upper_bound(code, address - bias, {}, &CodeOfUnit::begin);
    if (behind == code.begin() || address - bias >= std::prev(behind)->end) return nullptr;
    return std::prev(behind)->unit;
  }

  static std::vector<CodeOfUnit> code_of_units(Dwfl_Module* module) {
    std::vector<CodeOfUnit> code;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
      CodeOfUnit part{.begin = 0, .end = 0, .unit = unit};
      Dwarf_Addr base = 0;
      for (std::ptrdiff_t at = 0;
           (at = dwarf_ranges(unit, at, &base, &part.begin, &part.end)) > 0;) {
        code.push_back(part);
      }
    }
    std::ranges::sort(code, {}, &CodeOfUnit::begin);
    return code;
  }

  std::vector<SourceFrame> frames_in(Dwarf_Die& die, Dwarf_Addr address) {
    const Unit& unit = units_.try_emplace(die.addr, die).first->second;
    auto functions = unit.functions_at(address);
    std::vector<SourceFrame> frames;
    Place place = place_of(&die, address);
    for (; !functions.empty(); functions.pop_back()) {
      Dwarf_Die& function = functions.back();
      frames.push_back(
          {.function = unit.name_of(function), .file = place.file, .line = place.line});
      place = place_of_call(&die, &function);
    }
    return frames;
  }

  std::unique_ptr<Dwfl, End> session_;           // Null when the system refuses it.
  std::unordered_map<const void*, Unit> units_;  // Keyed by libdw's address of the unit.
  // In the order of their addresses, for modules in which libdw did not find an address.
  std::unordered_map<const Dwfl_Module*, std::vector<CodeOfUnit>> code_;
};

// Some megabytes.
constexpr std::size_t known_count_max = 20'000;

Symbols::Symbols() = default;

Symbols::~Symbols() = default;

std::vector<SourceFrame> Symbols::frames(const StackTrace& trace) {
  std::vector<std::uintptr_t> unknown;
  std::ranges::copy_if(trace.return_addresses, std::back_inserter(unknown),
                       [this](std::uintptr_t address) { return !known_.contains(address); });
  if (!unknown.empty()) look_up(unknown);

  std::vector<SourceFrame> all;
  for (const std::uintptr_t address : trace.return_addresses) {
    const auto known = known_.find(address);
    if (known != known_.end() && !known->second.empty()) {
      std::ranges::copy(known->second, std::back_inserter(all));
    } else {
      all.push_back(nameless(address));
    }
  }
  const auto first = std::ranges::find_if_not(all, is_switch);
  auto last = std::find_if(first, all.end(), is_begin);
  while (last != first && last != all.end() && is_of_std(*std::prev(last))) --last;
  if (first == last) return all;
  return {std::move_iterator(first), std::move_iterator(last)};
}

void Symbols::rest() {
  info_.reset();
  if (known_.size() > known_count_max) known_.clear();
}

// Runs on a thread of its own: libdw has a frame of 150 KiB, more than the stack of most tasks, and
// was not built with the probes that would make it fault at a guard.
void Symbols::look_up(const std::vector<std::uintptr_t>& return_addresses) {
  const auto work = [&] {
    if (info_ == nullptr) info_ = std::make_unique<DebugInfo>();
    for (const std::uintptr_t address : return_addresses) {
      // The address of the call; the next instruction may belong to another function.
      known_[address] = info_->frames_at(address - 1);
    }
  };
  try {
    std::thread(work).join();
  } catch (const std::system_error&) {
    return;  // No thread is available: bare addresses will do.
  }
}

std::string to_text(const std::vector<SourceFrame>& frames) {
  std::string text;
  for (const SourceFrame& frame : frames) {
    if (frame.is_note) {
      text.append("    (").append(frame.function).append(")\n");
      continue;
    }
    text.append("    at ").append(frame.function);
    if (!frame.file.empty()) {
      text.append(" (").append(frame.file).append(":").append(std::to_string(frame.line));
      text.append(")");
    }
    text.append("\n");
  }
  return text;
}

}  // namespace corolane::coroutine
