// SPDX-License-Identifier: MIT
// Publications in order, for any number of readers of this shard, each at its own pace.
//
// Each publication is stored once for all readers and kept until every reader has read it, within
// bounds; the latest are kept for readers that come back. A reader that falls behind the bounds
// receives a gap and continues with the next publication. A slow reader therefore delays no other
// reader, and memory does not grow with the number of readers or with their delay.
//
// Belongs to the thread of one shard. The messages are immutable and shared between threads.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "framework/push/publication.h"

namespace corolane::framework::detail {

// Null for a publication whose trace is not sampled, as most are.
using PublicationTrace = std::shared_ptr<const rpc::TraceContext>;

// Consecutive publications on their way to another shard.
struct PublishedBatch {
  Position after;  // The publication before the first message.
  std::vector<std::shared_ptr<const google::protobuf::Message>> messages;
  // The same messages serialised, when they go to another node; else empty.
  std::vector<std::shared_ptr<const std::string>> bytes = {};
  // The traces of those that are sampled, with their index among the messages, in that order.
  struct Trace {
    std::size_t index;
    PublicationTrace trace;
  };
  std::vector<Trace> traces = {};
};

// The object whose publications a feed brings.
struct PublicationSource {
  std::string type = {};
  std::string id = {};
};

class Broadcast {
 public:
  using Source = PublicationSource;
  using Message = std::shared_ptr<const google::protobuf::Message>;
  class Reader;

  // What the tasks wait for that are in Reader::next(), as introspection shows it.
  static constexpr const char* awaited_name = "publications";

  // How far a reader may fall behind.
  struct Bounds {
    std::size_t count_max = 256;          // A few seconds of a busy room.
    std::size_t bytes_max = 256 * 1'024;  // About a client's send queue; one message always fits.
    // What stays when all have read it, for readers that continue: a second or two of a room.
    std::size_t kept_count = 32;
    std::size_t kept_bytes = 16 * 1'024;
  };

  // `source` is empty for an object's own.
  explicit Broadcast(const Bounds& bounds, Source source = {})
      : bounds_(bounds), source_(std::move(source)) {}
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  // The next publication follows `position`. Readers wait until the first call. A later call tells
  // present readers of a gap: publications in between were lost.
  void begin(Position position, Gap gap);
  // Appends the next publication. A null message advances the position; it requires that there are
  // no readers.
  void append(Message message, PublicationTrace trace = nullptr);
  // Ends the stream: readers get the stored publications and then the error.
  void end(Error error);

  const Source& source() const { return source_; }
  // Whether a task that waits for that (coroutine::Awaited::identity) waits in Reader::next().
  bool is_awaited_as(const void* identity) { return &readable_.waiting().queue() == identity; }
  bool has_begun() const { return has_begun_; }
  // The position of the last publication.
  Position position() const { return position_; }
  std::size_t reader_count() const { return readers_.size() + waiting_.size(); }
  // How often a reader was told that it, or a source before it, fell behind.
  std::uint64_t behind_count() const { return behind_count_; }
  // Counts its readers in `tally`, too, which other broadcasts may share. Called before the first
  // reader comes.
  void count_readers_in(std::shared_ptr<std::size_t> tally) { tally_ = std::move(tally); }
  // Called once, when the last reader leaves.
  void set_on_abandoned(std::function<void()> on_abandoned) {
    on_abandoned_ = std::move(on_abandoned);
  }

 private:
  struct Entry {
    Published published;
    std::size_t bytes;
    std::shared_ptr<const std::string> serialised = {};  // Once a reader has asked for it.

    // Whether it was not there before.
    bool serialise();
  };
  struct Place {
    std::uint64_t next = 0;  // Index among all entries ever; valid once it has begun.
    bool has_begun = false;
    std::function<void()> note = {};  // Set while it is in waiting_.
  };

  std::uint64_t end_index() const { return first_index_ + entries_.size(); }
  void push(Entry entry);
  void pop_front();
  void wake();
  std::list<Place>::iterator enter(Position after);
  // The index of what follows that position; nothing when it is not known any more.
  std::optional<std::uint64_t> index_behind(Position position) const;
  void leave(std::list<Place>::iterator place);
  bool is_readable(const Place& place) const;
  // Puts what comes next into `taken`; false when there is nothing to read.
  bool take(Place& place, Published& taken);
  // The entry that take() would return; null when there is none, or when take() would return a gap.
  Entry* peek(const Place& place);
  // A reader needs none of the stored entries any more.
  void catch_up();
  void forget_all();

  const Bounds bounds_;
  const Source source_;
  bool has_begun_ = false;
  Position position_;
  std::deque<Entry> entries_;
  std::uint64_t first_index_ = 0;
  std::size_t bytes_ = 0;
  std::list<Place> readers_;
  std::list<Place> waiting_;      // The readers that want to be told when there is something.
  std::size_t begun_count_ = 0;   // Readers that know where they begin;
  std::size_t unread_count_ = 0;  // those of them that have unread entries.
  std::uint64_t behind_count_ = 0;
  std::optional<Error> ended_;
  std::shared_ptr<std::size_t> tally_;  // Null: nobody counts them.
  std::function<void()> on_abandoned_;
  coroutine::Event readable_{awaited_name};
};

// Move-only. Its first read returns Gap::begin with the position at which it begins, unless it
// continues.
class Broadcast::Reader {
 public:
  // It continues behind a publication that it names, without a gap, if what follows is still known.
  explicit Reader(std::shared_ptr<Broadcast> broadcast, Position after = {})
      : broadcast_(std::move(broadcast)), place_(broadcast_->enter(after)) {}
  ~Reader() {
    if (broadcast_ != nullptr) broadcast_->leave(place_);
  }
  Reader(Reader&& other) noexcept = default;
  Reader& operator=(Reader&& other) noexcept {
    std::swap(broadcast_, other.broadcast_);
    std::swap(place_, other.place_);
    return *this;
  }

  const Source& source() const { return broadcast_->source(); }
  // It has read where it begins.
  bool has_begun() const { return place_->has_begun; }
  // The position of the last publication, when it has read it.
  std::optional<Position> caught_up() const {
    const bool has_read_all = place_->has_begun && place_->next == broadcast_->end_index();
    return has_read_all ? std::optional(broadcast_->position_) : std::nullopt;
  }
  // Suspends until there is a publication. Fails with deadline_exceeded or cancelled, or with the
  // error given to end().
  Result<Published> next(Deadline deadline);
  // The same without a wait: nothing when there is nothing to read. Fails only as end() says.
  Result<std::optional<Published>> poll();
  // The same with the bytes of the message, null in a gap, which all readers share.
  struct Bytes {
    Position position;
    std::shared_ptr<const std::string> bytes;
  };
  Result<std::optional<Bytes>> poll_bytes();
  // The same for as many publications as fit in one frame. With `serialised_count` the batch has
  // their bytes, too. All readers share the bytes of a message, and the count grows by those that
  // none has asked for before.
  Result<std::optional<PublishedBatch>> poll_batch(std::uint64_t* serialised_count = nullptr);
  // Calls `note` once, as soon as there is something to read or the end: at once if it is there. It
  // is called while the broadcast changes: it must not touch any reader, nor suspend.
  void when_readable(std::function<void()> note);

 private:
  std::shared_ptr<Broadcast> broadcast_;
  std::list<Place>::iterator place_;
};

}  // namespace corolane::framework::detail
