// SPDX-License-Identifier: MIT
// Reads faults.
#include "framework/testing/faults.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "config/loader.h"
#include "coroutine/base/check.h"
#include "framework/testing/detail/fault_texts.h"

namespace corolane::sim {

using namespace std::chrono_literals;

std::string_view name_of(FaultKind kind) {
  for (const auto& choice : choices(FaultKind())) {
    if (choice.value == kind) return choice.name;
  }
  return "";
}

void describe(config::Section& section, Fault& value) {
  section.field("fault", value.fault, "The kind of fault.");
  section.field("every", value.every, "The average time between two such faults.",
                config::between(10ms, 24h));
  section.field("lasts_min", value.lasts_min, "The shortest duration of the fault.",
                config::between(0s, 24h));
  section.field("lasts_max", value.lasts_max, "The longest duration of the fault.",
                config::between(0s, 24h));
  section.field("amount", value.amount, "The severity, in a unit that depends on the fault.");
}

namespace {

Result<Fault> checked(Result<config::Loaded<Fault>> loaded, const std::string& path) {
  if (!loaded) return loaded.error();
  Fault& fault = loaded->value;
  if (fault.lasts_max < fault.lasts_min) {
    return Error(Code::invalid_argument, path + ": lasts_max is below lasts_min");
  }
  fault.name = std::filesystem::path(path).stem().string();
  return std::move(fault);
}

std::vector<Fault> load_standard_faults() {
  std::vector<Fault> faults;
  for (const FaultText& text : fault_texts()) {
    const std::string name(text.name);
    const auto fault = checked(config::load_text<Fault>(text.text, name), name);
    check(fault.has_value(), "a standard fault is valid");
    faults.push_back(*fault);
  }
  return faults;
}

// `name` is an element of a list of faults.
Result<std::vector<Fault>> find_some(const std::string& name) {
  if (name == "none") return std::vector<Fault>();
  if (name == "all") return standard_faults();
  const auto known = std::ranges::find(standard_faults(), name, &Fault::name);
  if (known != standard_faults().end()) return std::vector<Fault>{*known};
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) return read_faults(name);
  if (name.ends_with(".yaml")) {
    auto fault = read_fault(name);
    if (!fault) return fault.error();
    return std::vector<Fault>{*fault};
  }
  std::string names;
  for (const Fault& fault : standard_faults()) names += " " + fault.name;
  return Error(Code::not_found, "\"" + name + "\" is neither a file NAME.yaml, nor a folder, nor " +
                                    "one of all, none," + names);
}

}  // namespace

Result<Fault> read_fault(const std::string& path) {
  auto fault = checked(config::load_file<Fault>(path), path);
  if (fault) fault->path = path;
  return fault;
}

Result<std::vector<Fault>> read_faults(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  if (error || paths.empty()) {
    return Error(Code::not_found, folder + ": no such folder, or no file NAME.yaml in it");
  }
  // The file system lists them in any order.
  std::ranges::sort(paths);
  std::vector<Fault> faults;
  for (const std::string& path : paths) {
    auto fault = read_fault(path);
    if (!fault) return fault.error();
    faults.push_back(*fault);
  }
  return faults;
}

const std::vector<Fault>& standard_faults() {
  static const std::vector<Fault> faults = load_standard_faults();
  return faults;
}

Result<std::vector<Fault>> find_faults(std::string_view list) {
  std::vector<Fault> faults;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    auto found = find_some(std::string(list.substr(0, comma)));
    if (!found) return found.error();
    std::ranges::move(*found, std::back_inserter(faults));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return faults;
}

}  // namespace corolane::sim
