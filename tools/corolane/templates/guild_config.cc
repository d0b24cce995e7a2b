// What `my_game_node --print-config` prints comes from here.
#include "guild_config.h"

#include "config/section.h"

namespace my_game {

void describe(corolane::config::Section& section, GuildConfig& value) {
  section.field("donation_max", value.donation_max, "How much gold one may give at once.",
                corolane::config::at_least(1));
}

}  // namespace my_game
