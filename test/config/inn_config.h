// SPDX-License-Identifier: MIT
// A configuration with marks and rules for the tests of this folder.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/section.h"

namespace corolane::config::inn {

using namespace std::chrono_literals;

struct RoomConfig {
  int beds = 2;

  friend bool operator==(const RoomConfig&, const RoomConfig&) = default;
};

inline void describe(Section& section, RoomConfig& value) {
  section.field("beds", value.beds, "Who sleeps there.", between(1, 9));
}

struct KitchenConfig {
  int pans = 3;
  int pans_max = 5;
  Duration boil = 3min;

  friend bool operator==(const KitchenConfig&, const KitchenConfig&) = default;
};

inline void describe(Section& section, KitchenConfig& value) {
  section.field("pans", value.pans, "What hangs there.", at_least(0), live);
  section.field("pans_max", value.pans_max, "Hooks for it.");
  section.field("boil", value.boil, "Of an egg | hard.");
  section.rule({"pans", "pans_max"}, [&value]() -> Result<void> {
    if (value.pans <= value.pans_max) return {};
    return Error(Code::invalid_argument, "more pans than hooks");
  });
}

struct InnConfig {
  std::string sign = "The Inn";
  std::string password = {};
  std::optional<int> pin = {};
  std::vector<RoomConfig> rooms = {};
  KitchenConfig kitchen;
  KitchenConfig garden;

  friend bool operator==(const InnConfig&, const InnConfig&) = default;
};

inline void describe(Section& section, InnConfig& value) {
  section.field("sign", value.sign, "Above the door.", live);
  section.field("password", value.password, "Of the cellar.", secret | live);
  section.field("pin", value.pin, "Of the till.", at_most(9999), secret);
  section.field("rooms", value.rooms, "Upstairs.", live);
  section.field("kitchen", value.kitchen, "Where they cook.");
  section.field("garden", value.garden, "Where they cook in summer.", fixed);
}

}  // namespace corolane::config::inn
