// The settings of the guilds: the section `my_game` of the configuration.
#pragma once

#include <cstdint>

namespace corolane::config {
class Section;
}

namespace my_game {

struct GuildConfig {
  static constexpr const char* section = "my_game";

  std::uint64_t donation_max = 1'000;
  // {{client web}}
  bool login_by_name = false;  // login.h: for development.
  // {{end}}
};

void describe(corolane::config::Section& section, GuildConfig& value);

}  // namespace my_game
