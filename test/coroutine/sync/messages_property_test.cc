// SPDX-License-Identifier: MIT
// Compares every primitive that passes messages between tasks with a simple model of it, by random
// operations: see model.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/future.h"
#include "coroutine/sync/select.h"
#include "test/coroutine/sync/model.h"

namespace corolane::coroutine {
namespace {

class ChannelModel final : public Model {
  enum Kind { send, receive, try_send, try_receive, close, renew };

  Command choose(Worker worker) override {
    if (is_closed_ && is_at_rest() && below(4) == 0)
      return {.kind = renew, .argument = 1 + below(4)};
    if (below(64) == 0) return {.kind = close};
    return {.kind = below(4), .argument = ++last_value_, .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker, const Command& command) override {
    switch (command.kind) {
      case send:
        return outcome_of(channel_->send(command.argument, command.deadline));
      case receive:
        return outcome_of(channel_->receive(command.deadline));
      case try_send:
        return outcome_of(channel_->try_send(command.argument));
      case try_receive:
        return channel_->try_receive().value_or(gave_up);
      case close:
        channel_->close();
        return 0;
      default:
        channel_.emplace(static_cast<std::size_t>(command.argument));
        return 0;
    }
  }

  void apply(Worker worker, const Command& command) override {
    const bool is_try = command.kind == try_send || command.kind == try_receive;
    if (command.kind == close) {
      is_closed_ = true;
      complete(worker, 0);
      while (const auto one = take_first()) complete(one->worker, closed(one->command.kind));
    } else if (command.kind == renew) {
      is_closed_ = false;
      values_.clear();
      capacity_ = static_cast<std::size_t>(command.argument);
      complete(worker, 0);
    } else if (command.kind == send || command.kind == try_send ? put(worker, command.argument)
                                                                : take(worker)) {
      return;
    } else if (is_try || is_closed_) {
      complete(worker, is_try ? gave_up : closed(command.kind));
    } else {
      wait({.worker = worker, .command = command});
    }
  }

  static Outcome closed(int kind) {
    return failed(kind == send ? Code::failed_precondition : Code::out_of_range);
  }
  bool put(Worker worker, int value) {
    if (is_closed_) return false;
    const auto receiver =
        take_first([](const Waiting& one) { return one.command.kind == receive; });
    if (!receiver && values_.size() == capacity_) return false;
    complete(worker, 0);
    if (receiver) {
      complete(receiver->worker, value);
    } else {
      values_.push_back(value);
    }
    return true;
  }
  bool take(Worker worker) {
    if (values_.empty()) return false;
    complete(worker, values_.front());
    values_.pop_front();
    if (const auto sender = take_first()) {
      values_.push_back(sender->command.argument);
      complete(sender->worker, 0);
    }
    return true;
  }

  std::size_t capacity_ = 2;
  std::optional<Channel<int>> channel_{std::in_place, capacity_};
  std::deque<int> values_;
  bool is_closed_ = false;
  int last_value_ = 0;
};

TEST(MessagesPropertyTest, ChannelIsLikeItsModel) { ChannelModel().run(); }

// Selections compete with plain senders, receivers and a pulse.
class SelectModel final : public Model {
  enum Kind { select_any, receive, send, feed, drain, pulse };

  Command choose(Worker worker) override {
    const int kind = below(8);
    return {.kind = kind <= pulse ? kind : select_any,
            .argument = ++last_value_,
            .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker, const Command& command) override {
    switch (command.kind) {
      case receive:
        return outcome_of(source_.receive(command.deadline));
      case send:
        return outcome_of(sink_.send(command.argument, command.deadline));
      case feed:
        return outcome_of(source_.try_send(command.argument));
      case drain:
        return sink_.try_receive().value_or(gave_up);
      case pulse:
        event_.pulse();
        return 0;
      default:
        break;
    }
    auto first = select(source_.receiving(), sink_.sending(int{command.argument}), event_.waiting(),
                        command.deadline);
    if (!first) return failed(first.error().code());
    if (first->index() == 0) return outcome_of(std::get<0>(*first));
    return first->index() == 1 ? sent : pulsed;
  }

  void apply(Worker worker, const Command& command) override {
    switch (command.kind) {
      case feed:
        feed_model(worker, command.argument);
        return;
      case drain:
        drain_model(worker);
        return;
      case pulse:
        complete(worker, 0);
        while (const auto one = take_first(is<select_any>)) complete(one->worker, pulsed);
        return;
      default:
        break;
    }
    if (command.kind != send && in_source_) {
      complete(worker, *std::exchange(in_source_, std::nullopt));
    } else if (command.kind != receive && !in_sink_) {
      in_sink_ = command.argument;
      complete(worker, command.kind == send ? 0 : sent);
    } else {
      wait({.worker = worker, .command = command});
    }
  }

  void feed_model(Worker worker, int value) {
    const auto receiver = take_first(is<select_any, receive>);
    complete(worker, !receiver && in_source_ ? gave_up : 0);
    if (receiver) {
      complete(receiver->worker, value);
    } else if (!in_source_) {
      in_source_ = value;
    }
  }
  void drain_model(Worker worker) {
    complete(worker, std::exchange(in_sink_, std::nullopt).value_or(gave_up));
    if (const auto sender = take_first(is<select_any, send>)) {
      in_sink_ = sender->command.argument;
      complete(sender->worker, sender->command.kind == send ? 0 : sent);
    }
  }

  template <int... kinds>
  static bool is(const Waiting& one) {
    return ((one.command.kind == kinds) || ...);
  }
  static constexpr Outcome sent = -2000;
  static constexpr Outcome pulsed = -3000;

  Channel<int> source_{1};
  Channel<int> sink_{1};
  Event event_;
  std::optional<int> in_source_;
  std::optional<int> in_sink_;
  int last_value_ = 0;
};

TEST(MessagesPropertyTest, SelectIsLikeItsModel) { SelectModel().run(); }

// A latecomer may take the value before the tasks that were woken for it: one command at a time.
class FutureModel final : public Model {
 public:
  FutureModel() : Model(1) {}

 private:
  enum Kind { get, set_value, set_error, break_promise, renew };

  Command choose(Worker worker) override {
    if (!is_open_ && below(2) == 0) return {.kind = renew};
    if (is_open_ && below(4) == 0) return {.kind = 1 + below(3), .argument = below(1000)};
    return {.kind = get, .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker, const Command& command) override {
    switch (command.kind) {
      case get:
        return outcome_of(future_.get(command.deadline));
      case set_value:
        promise_->set_value(command.argument);
        return 0;
      case set_error:
        promise_->set_error(Error(Code::not_found, "nothing"));
        return 0;
      case break_promise:
        promise_.reset();
        return 0;
      default:
        promise_.emplace();
        future_ = promise_->get_future();
        return 0;
    }
  }

  void apply(Worker worker, const Command& command) override {
    if (command.kind == get) {
      if (is_open_) {
        wait({.worker = worker, .command = command});
      } else {
        complete(worker, take());
      }
      return;
    }
    complete(worker, 0);
    is_open_ = command.kind == renew;
    result_.reset();
    if (command.kind == set_value) result_ = command.argument;
    if (command.kind == set_error) result_ = failed(Code::not_found);
    if (command.kind == break_promise) result_ = failed(Code::aborted);
  }

  void settle() override {
    while (!is_open_ && !waiting().empty()) complete(take_first()->worker, take());
  }
  Outcome take() {
    return std::exchange(result_, std::nullopt).value_or(failed(Code::failed_precondition));
  }

  std::optional<Promise<int>> promise_;
  Future<int> future_;
  bool is_open_ = false;
  std::optional<Outcome> result_;
};

TEST(MessagesPropertyTest, FutureIsLikeItsModel) { FutureModel().run(); }

// Events, alone and three at a time.
class EventsModel final : public Model {
  enum Kind { wait_one, wait_first, set, reset, pulse };

  Command choose(Worker worker) override {
    return {.kind = below(5), .argument = below(3), .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker, const Command& command) override {
    Event& event = events_[static_cast<std::size_t>(command.argument)];
    auto& [first, second, third] = events_;
    switch (command.kind) {
      case wait_one:
        return outcome_of(event.wait(command.deadline));
      case wait_first: {
        const auto selected =
            select(first.waiting(), second.waiting(), third.waiting(), command.deadline);
        return selected ? static_cast<Outcome>(selected->index()) : failed(selected.error().code());
      }
      case set:
        event.set();
        return 0;
      case reset:
        event.reset();
        return 0;
      default:
        event.pulse();
        return 0;
    }
  }

  void apply(Worker worker, const Command& command) override {
    const int number = command.argument;
    if (command.kind == wait_one || command.kind == wait_first) {
      begin_wait(worker, command);
      return;
    }
    complete(worker, 0);
    if (command.kind != pulse) is_set_[static_cast<std::size_t>(number)] = command.kind == set;
    if (command.kind == reset) return;
    const auto wakes = [&](const Waiting& one) {
      return one.command.kind == wait_first || one.command.argument == number;
    };
    while (const auto one = take_first(wakes)) {
      complete(one->worker, one->command.kind == wait_first ? number : 0);
    }
  }

  void begin_wait(Worker worker, const Command& command) {
    if (command.kind == wait_one) {
      if (is_set_[static_cast<std::size_t>(command.argument)]) return complete(worker, 0);
    } else if (const auto first = std::ranges::find(is_set_, true); first != is_set_.end()) {
      return complete(worker, static_cast<Outcome>(first - is_set_.begin()));
    }
    wait({.worker = worker, .command = command});
  }

  std::array<Event, 3> events_;
  std::array<bool, 3> is_set_{};
};

TEST(MessagesPropertyTest, EventsAreLikeTheirModel) { EventsModel().run(); }

}  // namespace
}  // namespace corolane::coroutine
