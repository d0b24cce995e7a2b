// SPDX-License-Identifier: MIT
// The properties of a key that matter to an operator beside its value.
//
//   section.field("clock", value.clock, "Thinking time.", config::at_least(1s), config::live);
//   section.field("password", value.password, "Ours.", config::secret);
//
// The marks of a section apply to all that is in it.
#pragma once

namespace corolane::config {

struct Marks {
  // A reload changes it; a key that is not live takes effect at the next start.
  bool is_live = false;
  // It is not live, whatever else marks it: this program would not notice a change.
  bool is_fixed = false;
  // Never printed, logged or shown.
  bool is_secret = false;

  friend constexpr Marks operator|(Marks a, Marks b) {
    const bool stays = a.is_fixed || b.is_fixed;
    return {.is_live = (a.is_live || b.is_live) && !stays,
            .is_fixed = stays,
            .is_secret = a.is_secret || b.is_secret};
  }
  friend constexpr bool operator==(Marks, Marks) = default;
};

inline constexpr Marks live = {.is_live = true};
inline constexpr Marks fixed = {.is_fixed = true};
inline constexpr Marks secret = {.is_secret = true};

}  // namespace corolane::config
