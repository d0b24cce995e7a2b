// SPDX-License-Identifier: MIT
// Connects a recorded node with the real outside and writes all its input to a file.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/recording/detail/clock_marks.h"
#include "framework/recording/detail/inbox.h"
#include "framework/recording/detail/outside.h"
#include "framework/recording/detail/recording_file.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::recording {

class LiveFeed final : public Feed {
 public:
  // All outlive it. The first thread that calls read() is that of the node, which makes all calls
  // of Feed.
  LiveFeed(RecordingWriter& file, Log& log) : file_(file), log_(log) {}

  // Called before the node starts.
  void set_outside(Outside& outside) { outside_ = &outside; }
  // Adds an arrival. Any thread.
  void push(Arrival arrival);

  std::int64_t read(Entry::WhatCase clock) override;
  void draw(std::span<std::byte> bytes) override;
  Listening listen(std::vector<Ask> before, const Ask& ask, std::uint64_t asked_hash) override;
  std::vector<Arrival> turn(std::vector<Ask> asks, std::uint64_t asked_hash,
                            Deadline deadline) override;
  void wake() override;

  // Called at the end of the node.
  void end();

 private:
  void add(const Entry& entry);
  void end_early(const char* reason);

  RecordingWriter& file_;
  Log& log_;
  Outside* outside_ = nullptr;
  ClockMarks marks_;
  std::atomic<std::thread::id> node_thread_;
  std::atomic<bool> is_disturbed_ = false;  // Another thread has posted work to the node.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Arrival> arrivals_;  // Guarded by mutex_.
  bool is_woken_ = false;          // Likewise.
};

}  // namespace corolane::framework::recording
