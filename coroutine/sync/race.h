// SPDX-License-Identifier: MIT
// Tries several ways to one value, each in a task: the first success wins.
//
//   auto profile = race(replicas, {.head_start = 20ms},
//                       [&](Replica& replica) { return replica.load(id, deadline); }, deadline);
//   if (!profile) return profile.error();
//
// For a request that is sent again elsewhere when the answer is slow, or a server with several
// addresses. Nothing is left running when it returns: the losers are cancelled, and it waits for
// their end.
#pragma once

#include <cstddef>
#include <optional>
#include <ranges>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/detail/may_begin.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {

struct RaceOptions {
  // How long a try runs before the next one begins. When one fails, the next begins at once.
  Duration head_start = Duration::zero();
  std::string_view name = "race";  // Names the tasks.
  TaskOptions task = {};
};

namespace detail {

// The tries of a race write it, and the racer reads it.
template <typename T>
struct RaceNews {
  std::optional<T> winner;
  std::size_t ended_count = 0;
  Event changed{"a try of a race"};
};

// Brackets a try, which may end by an exception.
template <typename T>
class RaceTry {
 public:
  explicit RaceTry(RaceNews<T>& news) : news_(news) {}
  ~RaceTry() {
    ++news_.ended_count;
    news_.changed.pulse();
  }
  RaceTry(const RaceTry&) = delete;
  RaceTry& operator=(const RaceTry&) = delete;

 private:
  RaceNews<T>& news_;
};

}  // namespace detail

// `f` takes an element of `range` and returns T or a Result<T>; the result is a Result<T>.
// Suspends. The tries begin in the order of the elements; `range` and `f` stay as they are until
// the end.
//
// When all have failed, the result is the first error, internal for an exception that escaped;
// resource_exhausted when there was no stack for a single one. Also fails with deadline_exceeded or
// cancelled; a try that succeeds although it is cancelled still wins.
template <std::ranges::forward_range R, typename F>
auto race(R&& range, const RaceOptions& options, F f, Deadline deadline,
          const std::source_location& site = std::source_location::current()) {
  using Returned = std::invoke_result_t<F&, std::ranges::range_reference_t<R>>;
  using T = typename detail::JoinedType<Returned>::Value;
  static_assert(!std::is_void_v<T>, "the winner of a race has a value");
  check(!std::ranges::empty(range), "a race has at least one try");
  if (auto may = detail::may_begin(deadline, "race"); !may) {
    return Result<T>(std::move(may.error()));
  }

  detail::RaceNews<T> news;
  TaskGroup tries;  // The last local that the tries use: they end first.
  std::size_t begun_count = 0;
  std::optional<Error> refusal;

  // Suspends until a try ends, or `end` has passed.
  const auto wait_for_news = [&](Deadline end) -> Result<void> {
    const std::size_t ended_before = news.ended_count;
    while (news.ended_count == ended_before) {
      if (auto waited = news.changed.wait(end); !waited) return waited;
    }
    return {};
  };
  const auto run = [&]() -> Result<void> {
    for (auto place = std::ranges::begin(range); place != std::ranges::end(range); ++place) {
      auto begun = tries.spawn(
          options.name,
          [&news, &f, place]() -> Result<void> {
            const detail::RaceTry<T> a_try(news);
            Result<T> result = f(*place);
            if (!result) return std::move(result.error());
            if (!news.winner) news.winner.emplace(*std::move(result));
            return {};
          },
          options.task, site);
      if (!begun) {
        refusal = std::move(begun.error());
        continue;
      }
      ++begun_count;
      const Deadline next = Deadline::after(options.head_start);
      auto waited = wait_for_news(earlier(next, deadline));
      const bool is_over =
          !waited && (deadline <= next || waited.error().code() == Code::cancelled);
      if (is_over) return waited;
      if (news.winner) return {};
    }
    while (!news.winner && news.ended_count < begun_count) {
      if (auto waited = wait_for_news(deadline); !waited) return waited;
    }
    return {};
  };

  auto ran = run();
  tries.cancel_and_join();
  if (news.winner) return Result<T>(*std::move(news.winner));
  if (!ran) return Result<T>(std::move(ran.error()));
  if (auto failed = tries.join(Deadline::never()); !failed) {
    return Result<T>(std::move(failed.error()));
  }
  return Result<T>(*std::move(refusal));
}

}  // namespace corolane::coroutine
