// SPDX-License-Identifier: MIT
#include "framework/recording/detail/file_feed.h"

#include <cstring>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework::recording {
namespace {

const char* name_of(Entry::WhatCase what) {
  switch (what) {
    case Entry::kTime:
      return "the time";
    case Entry::kBootTime:
      return "the time since boot";
    case Entry::kTimeOfDay:
      return "the time of day";
    case Entry::kProcessId:
      return "its process id";
    case Entry::kDrawn:
      return "random bytes";
    case Entry::kListening:
      return "to listen";
    case Entry::kTurn:
      return "to wait";
    case Entry::kEnd:
    case Entry::WHAT_NOT_SET:
      break;
  }
  return "nothing any more";
}

}  // namespace

FileFeed::FileFeed(std::unique_ptr<RecordingReader> file, OnEnd on_end)
    : file_(std::move(file)), on_end_(std::move(on_end)) {}

Entry FileFeed::take(Entry::WhatCase wanted) {
  auto read = file_->next();
  if (!read) on_end_(read.error().message(), false);
  if (!*read) {
    on_end_("the recording breaks off there: the process died, or still runs", true);
  }
  Entry& entry = **read;
  if (entry.has_end() && !entry.end().reason().empty()) {
    on_end_("the recording ends there: " + entry.end().reason(), true);
  }
  if (entry.what_case() != wanted) {
    on_end_(std::string("the node wants ") + name_of(wanted) + ", where it wanted " +
                name_of(entry.what_case()),
            false);
  }
  return std::move(entry);
}

std::int64_t FileFeed::read(Entry::WhatCase clock) { return marks_.shown(take(clock)); }

void FileFeed::draw(std::span<std::byte> bytes) {
  const Entry entry = take(Entry::kDrawn);
  if (entry.drawn().size() != bytes.size()) {
    on_end_("the node draws " + std::to_string(bytes.size()) + " random bytes, where it drew " +
                std::to_string(entry.drawn().size()),
            false);
  }
  std::memcpy(bytes.data(), entry.drawn().data(), bytes.size());
}

Listening FileFeed::listen(std::vector<Ask> /*before*/, const Ask& ask, std::uint64_t asked_hash) {
  Entry entry = take(Entry::kListening);
  compare(entry.listening().asked_hash(), asked_hash, &ask);
  return std::move(*entry.mutable_listening());
}

std::vector<Arrival> FileFeed::turn(std::vector<Ask> asks, std::uint64_t asked_hash,
                                    Deadline /*deadline*/) {
  Entry entry = take(Entry::kTurn);
  compare(entry.turn().asked_hash(), asked_hash, asks.empty() ? nullptr : &asks.back());
  auto* const arrivals = entry.mutable_turn()->mutable_arrivals();
  return {std::make_move_iterator(arrivals->begin()), std::make_move_iterator(arrivals->end())};
}

// The recording has only the hash of the recorded requests.
void FileFeed::compare(std::uint64_t recorded_hash, std::uint64_t asked_hash, const Ask* last) {
  if (recorded_hash == asked_hash) return;
  on_end_("the node asks for something else in it than it did" +
              (last == nullptr ? ": for nothing this time"
                               : "; this time it ends with: " + last->ShortDebugString()),
          false);
}

void FileFeed::end() {
  const Entry entry = take(Entry::kEnd);
  check(entry.end().reason().empty(), "early ends were reported before");
}

}  // namespace corolane::framework::recording
