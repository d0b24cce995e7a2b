// SPDX-License-Identifier: MIT
// Where the sessions went that have left a server: for clients that still name it, and for takers
// whose answer was lost. And why others were ended, for clients that were away then.
//
//   SessionDepartures departures({.count_max = 1'000, .time_max = 2min});
//   departures.add({.secret = secret, .to = "node b", .attempt = 17, .record = record});
//   if (const auto* departure = departures.find(secret)) answer.set_moved_to(departure->to);
//
// Bounded by count, by time, and by the bytes of the records that it keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"

namespace corolane::rpc::detail {

class SessionDepartures {
 public:
  struct Limits {
    std::size_t count_max = 0;
    Duration time_max{};
    std::size_t record_bytes_max = std::size_t{4} << 20;
  };

  struct Departure {
    std::string secret;        // Of the session,
    std::uint64_t number = 0;  // and its number.
    std::string to = {};       // The home that has taken it; empty when it was ended.
    std::optional<Error> ended_by = {};
    std::uint64_t attempt = 0;  // SessionClaim::attempt of that one.
    std::string record = {};    // What it was given; empty once that is not kept any more.
    Deadline until = Deadline::passed();
  };

  explicit SessionDepartures(const Limits& limits) : limits_(limits) {}
  SessionDepartures(const SessionDepartures&) = delete;
  SessionDepartures& operator=(const SessionDepartures&) = delete;

  // Replaces an earlier departure of that session.
  void add(Departure departure) {
    erase(departure.secret);
    departure.until = Deadline::after(limits_.time_max);
    record_bytes_ += departure.record.size();
    const auto added = departures_.insert(departures_.end(), std::move(departure));
    if (with_record_ == departures_.end()) with_record_ = added;
    by_secret_.emplace(added->secret, added);
    by_number_.emplace(added->number, added);
    while (departures_.size() > limits_.count_max) erase(departures_.begin());
    while (record_bytes_ > limits_.record_bytes_max) {
      record_bytes_ -= with_record_->record.size();
      (with_record_++)->record.clear();
    }
    forget_old();
  }

  // Null when it is not known, or was too long ago.
  const Departure* find(const std::string& secret) {
    forget_old();
    const auto found = by_secret_.find(secret);
    return found == by_secret_.end() ? nullptr : &*found->second;
  }

  // The home that has taken the session of that number; empty when that is not known.
  std::string next_home(std::uint64_t number) {
    forget_old();
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? std::string() : found->second->to;
  }

  // It is back.
  void erase(const std::string& secret) {
    const auto found = by_secret_.find(secret);
    if (found != by_secret_.end()) erase(found->second);
  }

  std::size_t count() const { return departures_.size(); }
  std::size_t record_bytes() const { return record_bytes_; }

 private:
  using Place = std::list<Departure>::iterator;

  void erase(Place place) {
    if (with_record_ == place) ++with_record_;
    record_bytes_ -= place->record.size();
    by_number_.erase(place->number);
    by_secret_.erase(place->secret);
    departures_.erase(place);
  }
  void forget_old() {
    while (!departures_.empty() && departures_.front().until.has_passed()) {
      erase(departures_.begin());
    }
  }

  const Limits limits_;
  std::list<Departure> departures_;        // As they left.
  Place with_record_ = departures_.end();  // Those before it have none.
  std::unordered_map<std::string, Place> by_secret_;
  std::unordered_map<std::uint64_t, Place> by_number_;
  std::size_t record_bytes_ = 0;
};

}  // namespace corolane::rpc::detail
