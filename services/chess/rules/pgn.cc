// SPDX-License-Identifier: MIT
// Splits a text into sections, then reads the tags and the movetext of each game in them.
#include "services/chess/rules/pgn.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "services/chess/rules/detail/pgn_scanner.h"

namespace corolane::services::chess::rules {
namespace {

using detail::PgnDamage;
using detail::PgnScanner;
using detail::PgnToken;

struct Section {
  std::string_view text;
  int line;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

bool begins_with_tag(std::string_view line) {
  return line.starts_with('[') && !line.starts_with("[%");
}

// Only the first section may begin with something other than a tag.
std::vector<Section> split_sections(std::string_view text) {
  std::vector<Section> sections{{text, 1}};
  std::size_t at = 0;
  int line = 1;
  bool after_blank = false;
  while (at < text.size()) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string_view line_text = text.substr(at, line_end - at);
    if (after_blank && begins_with_tag(line_text)) {
      sections.back().text.remove_suffix(text.size() - at);
      sections.push_back({text.substr(at), line});
    }
    after_blank = is_blank(line_text);
    at = line_end + 1;
    ++line;
  }
  return sections;
}

// Reads one game from the scanner's current position.
class GameReader {
 public:
  GameReader(PgnScanner& scanner, int ordinal) : scanner_(scanner) { game_.ordinal = ordinal; }

  // Nothing when there is no game left. Must be called once.
  std::optional<std::expected<PgnGame, PgnFailure>> read() {
    if (auto damage = read_game(); !damage) {
      return std::unexpected(PgnFailure{.name = game_.name,
                                        .ordinal = game_.ordinal,
                                        .line = damage.error().line,
                                        .ply = static_cast<int>(game_.moves.size()),
                                        .reason = damage.error().reason});
    }
    if (game_.tags.empty()) return std::nullopt;
    return std::move(game_);
  }

 private:
  using Done = std::expected<void, PgnDamage>;
  using Kind = PgnToken::Kind;

  Done read_game() {
    if (auto moved = advance(); !moved) return moved;
    game_.line = token_.line;
    if (token_.kind == Kind::end) return {};
    if (token_.kind != Kind::tag) return damage(token_.line, "movetext before any tag");

    while (token_.kind == Kind::tag) {
      if (token_.text == "Site" && game_.name.empty()) game_.name = token_.value;
      game_.tags.push_back({std::move(token_.text), std::move(token_.value)});
      if (auto moved = advance(); !moved) return moved;
    }
    if (auto moves = read_movetext(); !moves) return moves;
    return scanner_.skip_blanks_and_comments();  // Text after the result belongs to this game.
  }

  // Leaves the scanner behind the result.
  Done read_movetext() {
    int depth = 0;  // Depth of variations, whose moves are skipped.
    int variation_line = 0;
    while (token_.kind != Kind::end && token_.kind != Kind::tag) {
      if (token_.kind == Kind::variation_begin) {
        if (depth++ == 0) variation_line = token_.line;
      } else if (token_.kind == Kind::variation_end) {
        if (depth-- == 0) return damage(token_.line, "end of a variation that never began");
      } else if (depth == 0 && token_.kind == Kind::result) {
        game_.result = std::move(token_.text);
        return {};
      } else if (depth == 0) {
        game_.moves.push_back({std::move(token_.text), token_.line});
      }
      if (auto moved = advance(); !moved) return moved;
    }
    if (depth > 0) return damage(variation_line, "unterminated variation");
    return damage(last_line_, "no result after the last move: expected 1-0, 0-1, 1/2-1/2 or *");
  }

  Done advance() {
    auto token = scanner_.next();
    if (!token) return std::unexpected(token.error());
    last_line_ = token_.line;
    token_ = *std::move(token);
    return {};
  }

  static std::unexpected<PgnDamage> damage(int line, std::string reason) {
    return std::unexpected(PgnDamage{line, std::move(reason)});
  }

  PgnScanner& scanner_;
  PgnGame game_;
  PgnToken token_;
  int last_line_ = 0;  // The line of the previous token.
};

}  // namespace

std::vector<std::expected<PgnGame, PgnFailure>> read_pgn(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<std::expected<PgnGame, PgnFailure>> games;
  for (const Section& section : split_sections(text)) {
    PgnScanner scanner(section.text, section.line);
    bool is_sound = true;
    while (is_sound) {
      auto game = GameReader(scanner, static_cast<int>(games.size()) + 1).read();
      if (!game) break;
      is_sound = game->has_value();
      games.push_back(*std::move(game));
    }
  }
  return games;
}

}  // namespace corolane::services::chess::rules
