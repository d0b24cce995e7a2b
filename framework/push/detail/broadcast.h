// Publications in order, for any number of readers of this shard, each at its own pace.
//
// Each is there once, however many read it, and as long as somebody has not read it, up to the
// bounds. A reader that falls behind those is told that it has missed something, and goes on with
// what comes next. So neither does a slow reader hold up anybody, nor does memory grow with how
// many readers there are or how slow they are.
//
// Belongs to the thread of one shard; the messages themselves, which nobody changes, to any.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/wait_queue.h"
#include "framework/push/publication.h"

namespace corolane::framework::detail {

// Some that follow one another, on their way to another shard.
struct PublishedBatch {
  Position after;  // That of the one before the first of them.
  std::vector<std::shared_ptr<const google::protobuf::Message>> messages;
};

class Broadcast {
 public:
  using Message = std::shared_ptr<const google::protobuf::Message>;
  class Reader;

  // How far a reader may fall behind.
  struct Bounds {
    std::size_t count_max = 256;          // A few seconds of what a busy room says.
    std::size_t bytes_max = 256 * 1'024;  // The send queue of a client, about; but one always fits.
  };

  explicit Broadcast(const Bounds& bounds) : bounds_(bounds) {}
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  // Publications come from behind `position` on; until it is called for the first time readers
  // wait. What was published before that, and did not come this way, is lost: a gap for those who
  // read already.
  void begin(Position position, Gap gap);
  // The next one. Null: it counts, but nobody will read it.
  void append(Message message);
  // Nothing comes any more: readers have what is there, and then the error.
  void end(Error error);

  bool has_begun() const { return has_begun_; }
  // Of the last one.
  Position position() const { return position_; }
  std::size_t reader_count() const { return readers_.size(); }
  // How often readers were told that they, or those before them, fell behind.
  std::uint64_t behind_count() const { return behind_count_; }
  // Calls it once, when the last reader has gone.
  void set_on_abandoned(std::function<void()> on_abandoned) {
    on_abandoned_ = std::move(on_abandoned);
  }

 private:
  struct Entry {
    Published published;
    std::size_t bytes;
  };
  struct Place {
    std::uint64_t next = 0;  // Of all entries there ever were; valid once it has begun.
    bool has_begun = false;
  };

  std::uint64_t end_index() const { return first_index_ + entries_.size(); }
  void push(Entry entry);
  void pop_front();
  void leave(std::list<Place>::iterator place);
  // Nothing when there is nothing to read.
  std::optional<Published> take(Place& place);
  std::optional<Published> take_next(Place& place);
  // The entry that take() would return; null when that is none, or would tell of a gap.
  const Entry* peek(const Place& place) const;
  // A reader needs nothing of what is there any more.
  void catch_up();

  const Bounds bounds_;
  bool has_begun_ = false;
  Position position_;
  std::deque<Entry> entries_;
  std::uint64_t first_index_ = 0;
  std::size_t bytes_ = 0;
  std::list<Place> readers_;
  std::size_t begun_count_ = 0;   // Readers that have been told where they begin;
  std::size_t unread_count_ = 0;  // those among them that have not read all of it.
  std::uint64_t behind_count_ = 0;
  std::optional<Error> ended_;
  std::function<void()> on_abandoned_;
  coroutine::WaitQueue readable_{"publications"};
};

// Move-only. The first that it reads is the gap at which it begins.
class Broadcast::Reader {
 public:
  explicit Reader(std::shared_ptr<Broadcast> broadcast)
      : broadcast_(std::move(broadcast)),
        place_(broadcast_->readers_.insert(broadcast_->readers_.end(), Place{})) {}
  ~Reader() {
    if (broadcast_ != nullptr) broadcast_->leave(place_);
  }
  Reader(Reader&& other) noexcept = default;
  Reader& operator=(Reader&& other) noexcept {
    std::swap(broadcast_, other.broadcast_);
    std::swap(place_, other.place_);
    return *this;
  }

  // Suspends until there is something. Fails with deadline_exceeded or cancelled, and at the end.
  Result<Published> next(Deadline deadline);
  // The same with as many as fit one frame.
  Result<PublishedBatch> next_batch(Deadline deadline);

 private:
  std::shared_ptr<Broadcast> broadcast_;
  std::list<Place>::iterator place_;
};

}  // namespace corolane::framework::detail
