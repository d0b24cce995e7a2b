// The object of one guild: its gold.
#pragma once

#include <cstdint>
#include <string>

#include "guild.corolane.h"
#include "guild_config.h"

namespace my_game {

using corolane::Code;
using corolane::Error;
using corolane::Result;
namespace rpc = corolane::rpc;

class Guild : public GuildObject {
 public:
  // `config` outlives it.
  explicit Guild(const GuildConfig& config) : config_(config) {}

  Result<DonateReply> donate(const DonateRequest& request, rpc::Context& context) override;
  Result<LookReply> look(const LookRequest& request, rpc::Context& context) const override;

 private:
  static constexpr int latest_max = 10;

  void add_to_latest(const std::string& player, std::uint64_t gold);
  LookReply view() const;

  const GuildConfig& config_;
};

}  // namespace my_game
