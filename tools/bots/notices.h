// SPDX-License-Identifier: MIT
// Checks what a player is told of a game: by notices, once at each turn, once at the end, and in
// order; and by the news of its group, each state after the other.
//
// Sessions promise that no push for good is lost, doubled or out of order, whatever breaks, and
// that no news are missing without a gap. Games alone would not show it: a player who is told twice
// of a turn plays on all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/chess/chess.pb.h"

namespace corolane::tools::bots {

struct NoticeCounts {
  std::size_t push_count = 0;
  std::size_t lost_count = 0;         // Promised notices that never came.
  std::size_t doubled_count = 0;      // Notices that came again, over any session.
  std::size_t unordered_count = 0;    // Notices, or numbers of pushes.
  std::size_t gap_count = 0;          // Pushes that the server has said are lost.
  std::size_t resumed_count = 0;      // Connections that brought the session back,
  std::size_t new_session_count = 0;  // and those that began another one.
  std::size_t news_count = 0;         // States of games by their groups,
  std::size_t news_gap_count = 0;     // and gaps between them.

  void add(const NoticeCounts& other);
  bool is_perfect() const { return lost_count + doubled_count + unordered_count == 0; }
};

// The notices of one player about one game.
class NoticeChecker {
 public:
  NoticeChecker(std::string game, services::chess::Seat seat)
      : game_(std::move(game)), seat_(seat) {}

  void on_session(bool is_resumed);
  void on_gap(std::uint64_t lost_count);
  // Each push, of any type.
  void on_push(std::uint64_t number);
  // After on_push(). A notice of another game only counts as a push.
  void on_notice(const services::chess::TurnNotice& notice);

  // The player begins to follow the game, which had so many plies; anew after another session.
  void on_follow(std::size_t plies);
  void on_news_gap();
  void on_news(const services::chess::GameState& state);

  // Whether the player knows that this ply was played: it is their turn now, or the game is over.
  bool knows_ply(std::size_t ply) const { return is_over_ || ply <= plies_; }
  bool knows_end() const { return is_over_; }

  // The game has ended after so many plies, `on_board` if by the rules: notes what was not told.
  void finish(std::size_t plies, bool on_board);
  // The same for one notice, for which the player has waited in vain.
  void lose(std::size_t ply);
  void lose_end();
  void lose_end_of_news();

  const NoticeCounts& counts() const { return counts_; }
  // A sentence for each mistake.
  const std::vector<std::string>& mistakes() const { return mistakes_; }

 private:
  const std::string game_;
  const services::chess::Seat seat_;
  NoticeCounts counts_;
  std::vector<std::string> mistakes_;
  std::size_t session_count_ = 0;
  std::uint64_t last_number_ = 0;
  // The ply of each turn that was told, and the end: with the session that told it first.
  std::map<std::size_t, std::size_t> told_;
  std::size_t plies_ = 0;  // Of the latest turn.
  bool is_over_ = false;
  // Of the picture of the game or the states behind it; nothing behind a gap.
  std::optional<std::size_t> news_plies_;
  std::size_t last_news_plies_ = 0;  // Of the last state by the group.
};

}  // namespace corolane::tools::bots
