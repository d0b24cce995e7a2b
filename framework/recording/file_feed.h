// What a recording holds, for the inbox of a node that is replayed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/recording/clock_marks.h"
#include "framework/recording/inbox.h"
#include "framework/recording/recording_file.h"

namespace corolane::framework::recording {

class FileFeed final : public Feed {
 public:
  // Is told, inside of any call, why the node cannot go on: the recording is over, or the node has
  // done something else than it did. Does not return.
  using OnEnd = std::function<void(const std::string& how, bool is_same)>;

  FileFeed(std::unique_ptr<RecordingReader> file, OnEnd on_end);

  std::int64_t read(Entry::WhatCase clock) override;
  void draw(std::span<std::byte> bytes) override;
  Listening listen(std::vector<Ask> before, const Ask& ask, std::uint64_t asked_hash) override;
  std::vector<Arrival> turn(std::vector<Ask> asks, std::uint64_t asked_hash,
                            Deadline deadline) override;
  void wake() override {}

  // The node has ended: so should the recording.
  void end();

 private:
  Entry take(Entry::WhatCase wanted);
  void compare(std::uint64_t recorded_hash, std::uint64_t asked_hash, const Ask* last);

  const std::unique_ptr<RecordingReader> file_;
  const OnEnd on_end_;
  ClockMarks marks_;
};

}  // namespace corolane::framework::recording
