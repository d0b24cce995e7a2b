// SPDX-License-Identifier: MIT
// The events of a simulation: a hash that distinguishes two runs, and, for a reader, text.
//
//   simulation.trace().set_reader([](const Trace::Event& event) {
//     std::cout << event.host << ": " << event.what << ' ' << event.detail << '\n';
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/base/clock.h"

namespace corolane::sim {

class Trace {
 public:
  struct Event {
    TimePoint at;           // The simulation's time.
    std::string_view host;  // Empty: outside of hosts.
    std::string_view what;  // A constant word or two.
    std::string detail;
    std::uint64_t hash = 0;  // The hash of all events up to this one.
  };
  using Reader = std::function<void(const Event& event)>;

  // Passes later events to `reader`; null: to none.
  void set_reader(Reader reader) { reader_ = std::move(reader); }
  bool is_read() const { return reader_ != nullptr; }

  // Adds a number to the hash, without an event.
  void mix(std::uint64_t number) {
    hash_ = (hash_ ^ number) * 0x9fb21c651e98df25;
    hash_ ^= hash_ >> 32;
  }
  void mix(TimePoint time) { mix(static_cast<std::uint64_t>(time.time_since_epoch().count())); }
  void mix(std::string_view bytes) { mix(std::hash<std::string_view>()(bytes)); }

  // `describe` returns the detail; it is called only when there is a reader.
  template <typename Describe>
  void add(TimePoint at, std::string_view host, std::string_view what, Describe&& describe) {
    mix(at);
    mix(what);
    ++count_;
    if (reader_ != nullptr) {
      reader_({.at = at, .host = host, .what = what, .detail = describe(), .hash = hash_});
    }
  }

  // Passes an event to the reader without adding it to the hash: for events that exist only when
  // there is a reader.
  void tell(TimePoint at, std::string_view host, std::string_view what, std::string detail) {
    if (reader_ == nullptr) return;
    reader_({.at = at, .host = host, .what = what, .detail = std::move(detail), .hash = hash_});
  }

  // Two runs of one seed have the same hash.
  std::uint64_t hash() const { return hash_; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t hash_ = 0x2545f4914f6cdd1d;
  std::uint64_t count_ = 0;
  Reader reader_;
};

}  // namespace corolane::sim
