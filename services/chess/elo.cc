// SPDX-License-Identifier: MIT
#include "services/chess/elo.h"

#include <cmath>

namespace corolane::services::chess {

std::int32_t rating_change(std::int32_t white, std::int32_t black,
                           std::optional<rules::Color> winner) {
  const double score = !winner ? 0.5 : *winner == rules::Color::white ? 1.0 : 0.0;
  const double expected =
      1.0 / (1.0 + std::pow(10.0, (static_cast<double>(black) - white) / 400.0));
  return static_cast<std::int32_t>(std::lround(rating_change_max * (score - expected)));
}

}  // namespace corolane::services::chess
