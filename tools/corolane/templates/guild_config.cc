// The keys that `my_game_node --print-config` prints.
#include "guild_config.h"

#include "config/section.h"

namespace my_game {

void describe(corolane::config::Section& section, GuildConfig& value) {
  section.field("donation_max", value.donation_max, "The most gold that one donation may give.",
                corolane::config::at_least(1));
  // {{client web}}
  section.field("login_by_name", value.login_by_name,
                "For development: a player has the name that the page sends, without proof, in "
                "place of node.clients.login.");
  // {{end}}
}

}  // namespace my_game
