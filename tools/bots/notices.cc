// SPDX-License-Identifier: MIT
#include "tools/bots/notices.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace corolane::tools::bots {
namespace {

namespace chess = services::chess;

// In place of a ply.
constexpr std::size_t end_of_game = std::numeric_limits<std::size_t>::max();

std::string name_of(std::size_t ply) {
  return ply == end_of_game ? "the end" : "ply " + std::to_string(ply);
}

}  // namespace

void NoticeCounts::add(const NoticeCounts& other) {
  push_count += other.push_count;
  lost_count += other.lost_count;
  doubled_count += other.doubled_count;
  unordered_count += other.unordered_count;
  gap_count += other.gap_count;
  resumed_count += other.resumed_count;
  new_session_count += other.new_session_count;
  news_count += other.news_count;
  news_gap_count += other.news_gap_count;
}

void NoticeChecker::on_session(bool is_resumed) {
  if (is_resumed) {
    ++counts_.resumed_count;
    return;
  }
  if (++session_count_ > 1) ++counts_.new_session_count;
  last_number_ = 0;
}

void NoticeChecker::on_gap(std::uint64_t lost_count) { counts_.gap_count += lost_count; }

void NoticeChecker::on_push(std::uint64_t number) {
  ++counts_.push_count;
  // The client tells holes as gaps. What it ignores, news of a group that it has left, has numbers,
  // too.
  if (number <= last_number_) {
    ++counts_.unordered_count;
    mistakes_.push_back("push " + std::to_string(number) + " comes after push " +
                        std::to_string(last_number_));
  }
  last_number_ = std::max(last_number_, number);
}

void NoticeChecker::on_notice(const chess::TurnNotice& notice) {
  if (notice.game() != game_) return;
  const chess::GameState& state = notice.state();
  const bool is_end = state.outcome() != "unfinished";
  const std::size_t ply = is_end ? end_of_game : state.plies();
  const auto [told, is_new] = told_.emplace(ply, session_count_);
  if (!is_new) {
    ++counts_.doubled_count;
    const bool is_same_session = told->second == session_count_;
    mistakes_.push_back("the notice of " + name_of(ply) + " comes again, over " +
                        (is_same_session ? "the same" : "a new") + " session");
    return;
  }
  if (!is_end && state.turn() != seat_) {
    ++counts_.unordered_count;
    mistakes_.push_back("the notice of " + name_of(ply) + " is for the other player");
  } else if (std::next(told) != told_.end()) {
    ++counts_.unordered_count;
    mistakes_.push_back("the notice of " + name_of(ply) + " comes after that of " +
                        name_of(told_.rbegin()->first));
  }
  if (is_end) {
    is_over_ = true;
  } else {
    plies_ = std::max(plies_, ply);
  }
}

void NoticeChecker::on_follow(std::size_t plies) {
  news_plies_ = plies;
  last_news_plies_ = 0;
}

void NoticeChecker::on_news_gap() {
  ++counts_.news_gap_count;
  news_plies_.reset();
}

void NoticeChecker::on_news(const chess::GameState& state) {
  ++counts_.news_count;
  const std::size_t plies = state.plies();
  if (plies < last_news_plies_) {
    ++counts_.unordered_count;
    mistakes_.push_back("the state of ply " + std::to_string(plies) + " comes after that of ply " +
                        std::to_string(last_news_plies_));
  }
  last_news_plies_ = plies;
  // The first ones may be older than the picture of the game. Offers of a draw and the end are
  // states of the same ply.
  const std::size_t before = news_plies_.value_or(plies);
  if (plies > before + 1) {
    counts_.lost_count += plies - before - 1;
    mistakes_.push_back("the state of ply " + std::to_string(plies) + " comes behind that of ply " +
                        std::to_string(before) + ", without a gap");
  }
  news_plies_ = std::max(before, plies);
}

void NoticeChecker::lose_end_of_news() {
  ++counts_.lost_count;
  mistakes_.push_back("the last state of the game has not come by its group");
}

void NoticeChecker::finish(std::size_t plies, bool on_board) {
  // White moves after an even number of plies, first without a notice.
  const std::size_t last = on_board ? plies - 1 : plies;
  for (std::size_t ply = seat_ == chess::WHITE ? 2 : 1; ply <= last; ply += 2) {
    if (!told_.contains(ply)) lose(ply);
  }
  if (!is_over_) lose_end();
}

void NoticeChecker::lose_end() { lose(end_of_game); }

void NoticeChecker::lose(std::size_t ply) {
  ++counts_.lost_count;
  mistakes_.push_back("the notice of " + name_of(ply) + " has not come");
}

}  // namespace corolane::tools::bots
