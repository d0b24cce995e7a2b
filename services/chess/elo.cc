#include "services/chess/elo.h"

#include <cmath>

namespace corolane::services::chess {
namespace {

// FIDE's factor for experienced players (Rating Regulations 8.3.3).
constexpr double k_factor = 20;

}  // namespace

std::int32_t rating_change(std::int32_t white, std::int32_t black,
                           std::optional<rules::Color> winner) {
  const double score = !winner ? 0.5 : *winner == rules::Color::white ? 1.0 : 0.0;
  const double expected = 1.0 / (1.0 + std::pow(10.0, (black - white) / 400.0));
  return static_cast<std::int32_t>(std::lround(k_factor * (score - expected)));
}

}  // namespace corolane::services::chess
