// SPDX-License-Identifier: MIT
// One node's view of a directory that it shares with other nodes: late, or unreachable.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/directory/directory.h"

namespace corolane::test {

class FaultyDirectory final : public framework::Directory {
 public:
  explicit FaultyDirectory(framework::Directory& table) : table_(table) {}

  Duration delay = std::chrono::milliseconds(1);  // Added to each call, half of it on the way back.
  bool loses_answers = false;
  bool is_deaf = false;  // Watches report no change.
  std::size_t list_count = 0;
  // Commits are applied this much later, after the caller has given up.
  Duration commits_late_by{};
  // Cuts the directory off: calls wait until their deadlines, watches are silent.
  void cut() { is_away_ = true; }
  void mend() {
    is_away_ = false;
    back_.pulse();
  }

  Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) override {
    return reach(deadline, [&] { return table_.grant(time_to_live, deadline); });
  }
  Result<void> keep_alive(Lease lease, Deadline deadline) override {
    return reach(deadline, [&] { return table_.keep_alive(lease, deadline); });
  }
  Result<void> revoke(Lease lease, Deadline deadline) override {
    return reach(deadline, [&] { return table_.revoke(lease, deadline); });
  }
  Result<Snapshot> list(std::string_view prefix, Deadline deadline) override {
    ++list_count;
    return reach(deadline, [&] { return table_.list(prefix, deadline); });
  }
  Result<Recent> list_since(std::string_view prefix, Revision since, Deadline deadline) override {
    return reach(deadline, [&] { return table_.list_since(prefix, since, deadline); });
  }
  Result<Snapshot> read(std::span<const std::string> keys, Deadline deadline) override {
    return reach(deadline, [&] { return table_.read(keys, deadline); });
  }
  Result<Outcome> commit(const Transaction& transaction, Deadline deadline) override {
    if (commits_late_by > Duration::zero()) {
      static_cast<void>(late_.spawn("late commit", [this, transaction, late_by = commits_late_by] {
        if (!coroutine::sleep_for(late_by)) return;
        static_cast<void>(table_.commit(transaction, Deadline::never()));
      }));
      static_cast<void>(coroutine::sleep_until(deadline));
      return Error(Code::deadline_exceeded, "no answer").with_maybe_executed();
    }
    return reach(deadline, [&] { return table_.commit(transaction, deadline); });
  }
  Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) override {
    Result<void> ended;
    coroutine::TaskGroup watching;
    auto spawned = watching.spawn("watch", [&] {
      ended = table_.watch(prefix, from, [&](const Change& change) {
        if (!is_away_ && !is_deaf) on_change(change);
      });
      broken_.pulse();
    });
    if (!spawned) return spawned.error();
    auto waited = broken_.wait(Deadline::never());
    if (!ended) return ended;
    return waited ? Error(Code::unavailable, "the watch has ended") : waited;
  }
  // Ends all watches; the next one begins where its caller says.
  void break_watches() { broken_.pulse(); }
  bool is_shared() const override { return true; }
  std::string name() const override { return "a directory with faults"; }

 private:
  template <typename F>
  auto reach(Deadline deadline, F&& ask) -> decltype(ask()) {
    if (auto reached = travel(deadline); !reached) return reached.error();
    auto answer = ask();
    if (auto returned = travel(deadline); !returned || loses_answers) {
      return Error(Code::unavailable, "the answer is lost").with_maybe_executed();
    }
    return answer;
  }

  Result<void> travel(Deadline deadline) {
    if (auto slept = coroutine::sleep_for(delay / 2); !slept) return slept;
    while (is_away_) {
      if (auto waited = back_.wait(deadline); !waited) return waited;
    }
    return {};
  }

  framework::Directory& table_;
  bool is_away_ = false;
  coroutine::Event back_{"the directory"};
  coroutine::Event broken_{"the end of a watch"};
  coroutine::TaskGroup late_;
};

}  // namespace corolane::test
