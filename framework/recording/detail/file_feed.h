// SPDX-License-Identifier: MIT
// Feeds the inbox of a replayed node from a recording.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/recording/detail/clock_marks.h"
#include "framework/recording/detail/inbox.h"
#include "framework/recording/detail/recording_file.h"

namespace corolane::framework::recording {

class FileFeed final : public Feed {
 public:
  // Called inside of any call with the reason why the replay cannot continue: the recording is
  // over, or the node deviates from it. Must not return.
  using OnEnd = std::function<void(const std::string& how, bool is_same)>;

  FileFeed(std::unique_ptr<RecordingReader> file, OnEnd on_end);

  std::int64_t read(Entry::WhatCase clock) override;
  void draw(std::span<std::byte> bytes) override;
  Listening listen(std::vector<Ask> before, const Ask& ask, std::uint64_t asked_hash) override;
  std::vector<Arrival> turn(std::vector<Ask> asks, std::uint64_t asked_hash,
                            Deadline deadline) override;
  void wake() override {}

  // Called at the end of the node: checks that the recording ends, too.
  void end();

 private:
  Entry take(Entry::WhatCase wanted);
  void compare(std::uint64_t recorded_hash, std::uint64_t asked_hash, const Ask* last);

  const std::unique_ptr<RecordingReader> file_;
  const OnEnd on_end_;
  ClockMarks marks_;
};

}  // namespace corolane::framework::recording
