// SPDX-License-Identifier: MIT
// The outside of a recorded node as a test plays it: arrivals come when the test says so, requests
// are noted, and time passes only while nothing else happens.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "framework/recording/detail/inbox.h"

namespace corolane::framework::recording {

class ScriptedFeed final : public Feed {
 public:
  // Requests about streams that are connected, in order: "read 1", "write 1 hello", "taken 1 5",
  // "finish 1", "close 1". Returns those since the last call.
  std::vector<std::string> take_asked() { return std::exchange(asked_, {}); }

  // These arrive in the next turn of the loop.
  void bytes(std::uint64_t stream, std::string_view text) {
    Bytes& bytes = *next().mutable_bytes();
    bytes.set_stream(stream);
    bytes.set_bytes(std::string(text));
  }
  void written(std::uint64_t stream, std::size_t size) {
    Written& written = *next().mutable_written();
    written.set_stream(stream);
    written.set_size(size);
  }
  void ended(std::uint64_t stream, bool is_broken, const std::string& reason) {
    fill(*next().mutable_ended(), stream, is_broken, reason);
  }
  void write_failed(std::uint64_t stream, const std::string& reason) {
    fill(*next().mutable_write_failed(), stream, false, reason);
  }

  // A connection is made at once; its stream has the number 1, the next one 2.
  std::vector<Arrival> turn(std::vector<Ask> asks, std::uint64_t /*asked_hash*/,
                            Deadline deadline) override {
    for (const Ask& ask : asks) note(ask);
    if (!arrivals_.empty() || std::exchange(is_woken_, false)) return std::exchange(arrivals_, {});
    check(!deadline.is_never(), "the test makes arrive what the node waits for");
    now_ = std::max(now_, deadline.time().time_since_epoch());
    return {};
  }
  Listening listen(std::vector<Ask> /*before*/, const Ask& /*ask*/,
                   std::uint64_t /*asked_hash*/) override {
    check(false, "nothing listens in this test");
    return {};
  }
  std::int64_t read(Entry::WhatCase /*clock*/) override { return now_.count(); }
  void draw(std::span<std::byte> bytes) override { std::ranges::fill(bytes, std::byte{1}); }
  void wake() override { is_woken_ = true; }

 private:
  Arrival& next() { return arrivals_.emplace_back(); }
  static void fill(Ended& ended, std::uint64_t stream, bool is_broken, const std::string& reason) {
    ended.set_stream(stream);
    ended.set_is_broken(is_broken);
    ended.mutable_failure()->set_code(static_cast<std::uint32_t>(Code::unavailable));
    ended.mutable_failure()->set_message(reason);
  }
  void note(const Ask& ask) {
    if (ask.has_connect()) {
      Arrival& answer = next();
      answer.set_call(ask.call());
      answer.mutable_connected()->set_stream(++stream_count_);
      *answer.mutable_connected()->mutable_peer() = ask.connect().peer();
      answer.mutable_connected()->mutable_local()->set_address("127.0.0.9");
    } else if (ask.has_read()) {
      asked_.push_back("read " + std::to_string(ask.read()));
    } else if (ask.has_write()) {
      asked_.push_back("write " + std::to_string(ask.write().stream()) + " " + ask.write().bytes());
    } else if (ask.has_taken()) {
      asked_.push_back("taken " + std::to_string(ask.taken().stream()) + " " +
                       std::to_string(ask.taken().size()));
    } else if (ask.has_finish()) {
      asked_.push_back("finish " + std::to_string(ask.finish()));
    } else if (ask.has_close()) {
      asked_.push_back("close " + std::to_string(ask.close()));
    }
  }

  Duration now_ = std::chrono::hours(1);
  bool is_woken_ = false;
  std::uint64_t stream_count_ = 0;
  std::vector<Arrival> arrivals_;
  std::vector<std::string> asked_;
};

}  // namespace corolane::framework::recording
