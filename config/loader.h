// SPDX-License-Identifier: MIT
// Loads a configuration, and prints one.
//
//   auto loaded = config::load_file<NodeConfig>("node.yaml", overrides);
//   if (!loaded) return loaded.error();
//   serve(loaded->value);
//
// A load is strict: it refuses all that it does not understand. It fails with one invalid_argument
// whose message has a line for every error, each starting with its place:
//
//     node.yaml:3: unknown key "rooms_mx" in section "chess"; did you mean "rooms_max"?
//     --set chess.clock: read "10" without a unit; expected a duration, such as 250ms or 1.5h ...
//
// See config/keys.h for the list of keys and the changes between two configurations.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "config/origins.h"
#include "config/overrides.h"
#include "config/section.h"
#include "coroutine/base/result.h"

namespace corolane::config {

// A configuration, with the origins of its values for print().
template <typename T>
struct Loaded {
  T value;
  Origins origins;
};

namespace detail {

Result<std::string> read_file(const std::string& path);
Result<Origins> load(std::string_view text, std::string_view name, const Overrides& overrides,
                     Value& root);
std::string print_root(Value& root, const Origins& origins, Secrets secrets);

}  // namespace detail

// Loads a T, a struct with describe(), from `text`; errors call it `name`. Uses at most 48 KiB of
// stack, whatever the text.
template <detail::Described T>
Result<Loaded<T>> load_text(std::string_view text, std::string_view name,
                            const Overrides& overrides = {}) {
  Loaded<T> loaded;
  detail::TypedValue<T, Limits<>> root(loaded.value, {});
  auto origins = detail::load(text, name, overrides, root);
  if (!origins) return origins.error();
  loaded.origins = *std::move(origins);
  return loaded;
}

// The same from a file. Blocks the thread on the disk.
template <detail::Described T>
Result<Loaded<T>> load_file(const std::string& path, const Overrides& overrides = {}) {
  auto text = detail::read_file(path);
  if (!text) return text.error();
  return load_text<T>(*text, path, overrides);
}

// All of `value` as YAML that loads into an equal value, with help, limits and origins as comments.
// Hidden secrets become comments, too, and load as their default.
template <detail::Described T>
std::string print(const T& value, const Origins& origins = {}, Secrets secrets = Secrets::hidden) {
  T copy = value;  // describe() needs a mutable value.
  detail::TypedValue<T, Limits<>> root(copy, {});
  return detail::print_root(root, origins, secrets);
}

}  // namespace corolane::config
