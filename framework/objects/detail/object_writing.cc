// SPDX-License-Identifier: MIT
// The writes of an object: alone in its turn, or shared by durable calls that follow one another.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "coroutine/scheduler.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/wire/objects.pb.h"

namespace corolane::framework::detail {
namespace {

// Equal states give equal bytes: maps are sorted.
void serialise_in_order(const google::protobuf::MessageLite& message, std::string& bytes) {
  bytes.resize(message.ByteSizeLong());
  google::protobuf::io::ArrayOutputStream out(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedOutputStream coded(&out);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
}

}  // namespace

Result<void> ObjectCell::save(Deadline deadline) {
  if (is_writing_) [[unlikely]] {
    if (auto ended = wait_for_writer(deadline); !ended) return ended;
  }
  if (is_lost_ && is_destroyed_) return {};
  if (is_lost_) return moved();
  if (!is_changed_) return {};
  Image image = image_of_all();
  image.is_of_turn = true;
  return write(image, deadline);
}

Result<void> ObjectCell::wait_for_writer(Deadline deadline) {
  while (is_writing_) {
    if (auto waited = write_ended_.wait(deadline); !waited) return waited;
  }
  return {};
}

Result<void> ObjectCell::wait_until_stored(Deadline deadline) {
  if (auto ended = wait_for_writer(deadline); !ended) {
    return std::move(ended.error()).with_origin(Origin::runtime);
  }
  if (!hides_change_ || is_destroyed_) return {};
  return Error(Code::unavailable, "the change of an earlier call is not stored")
      .with_origin(Origin::runtime);
}

std::shared_ptr<ObjectCell::SharedWrite> ObjectCell::join_write() {
  if (next_write_ == nullptr) next_write_ = std::make_shared<SharedWrite>();
  hides_change_ = true;
  return next_write_;
}

// Needs no turn: what the running handler has changed is left out, and nobody else changes
// anything, since only durable calls are admitted meanwhile.
void ObjectCell::run_shared_writes(Duration time_max) {
  while (next_write_ != nullptr) {
    const auto write = std::exchange(next_write_, nullptr);
    if (is_lost_) {
      write->result = moved();
    } else {
      write->result = this->write(image_of_ended(), Deadline::after(time_max));
    }
    write->done.set();
  }
  is_writing_ = false;
  write_ended_.pulse();
}

ObjectCell::Image ObjectCell::image_of_all() {
  return {.bytes = serialise(nullptr),
          .wake_at = wake_at(),
          .is_tombstone = is_destroyed_,
          .change_number = change_number_,
          .outbox_size = alarms_ == nullptr ? 0 : alarms_->outbox.size(),
          .published = published()};
}

ObjectCell::Image ObjectCell::image_of_ended() {
  if (undo_ == nullptr) {
    Image image = image_of_all();
    if (is_durable_turn_) image.published = kept_position_;
    return image;
  }
  return {.bytes = serialise(undo_.get()),
          .wake_at = undo_->wake_at,
          .is_tombstone = undo_->was_destroyed,
          .change_number = undo_->change_number,
          .outbox_size = undo_->outbox_size,
          .published = kept_position_};
}

Result<void> ObjectCell::write(const Image& image, Deadline deadline) {
  auto written = try_to_write(image, deadline);
  if (written) {
    note_written(image);
  } else {
    history_.add_failed_save(written.error(), coroutine::Scheduler::current().turn_time());
  }
  ++(written ? type_.counts.save_count : type_.counts.failed_save_count);
  return written;
}

Result<void> ObjectCell::try_to_write(const Image& image, Deadline deadline) {
  if (type_.is_transient()) return {};
  if (version_is_unsure_) {
    if (auto found = find_out_version(deadline); !found) return found;
  }
  ObjectWrite object = {.bytes = image.bytes, .wake_at = image.wake_at};
  if (image.is_tombstone) {
    object.forget_at =
        wall_clock().now() + (may_be_called_again() ? RequestLedger::Options::of_outboxes().horizon
                                                    : Store::empty_row_time);
  }
  const auto write = [&] {
    object.new_version = next_version();
    return surroundings_.store.write(key(), epoch_, version_, object, deadline);
  };
  auto written = write();
  if (!written && written.error().code() == Code::aborted) {
    // Another owner has sealed the row, or it is not as this one has left it.
    if (auto found = find_out_version(deadline); !found) return found;
    written = write();
  }
  if (written) return written;
  if (written.error().code() == Code::aborted) {
    is_lost_ = true;
    return owned_by_another();
  }
  version_is_unsure_ = written.error().maybe_executed();
  may_write_late_ = may_write_late_ || version_is_unsure_;
  return written;
}

// Senders with an outbox deliver a call again for as long as the ledger remembers it. The object's
// own outbox ends with it.
bool ObjectCell::may_be_called_again() const {
  const std::string_view own = alarms_ == nullptr ? std::string_view() : alarms_->outbox.caller();
  return outbox_ledger_ != nullptr && outbox_ledger_->has_other_than(own);
}

void ObjectCell::note_written(const Image& image) {
  version_ = next_version();
  type_.forget_late_write(id_);
  has_written_ = true;
  row_is_empty_ = image.is_tombstone;
  is_lost_ = image.is_tombstone && !COROLANE_SEEDED_BUG(destroyed_and_served);
  is_changed_ = change_number_ != image.change_number;
  hides_change_ = next_write_ != nullptr || (is_changed_ && is_destroyed_);
  if (image.is_of_turn) {
    undo_.reset();
    if (is_durable_turn_) kept_position_ = image.published;
  } else if (undo_ != nullptr && undo_->change_number == image.change_number) {
    undo_->was_changed = undo_->hid_change = false;
  }
  if (alarms_ != nullptr) alarms_->outbox.note_written(image.outbox_size);
  if (topic_ != nullptr && !is_transient()) topic_->note_proven(image.published.sequence);
  release_held(image.published);
  measure();
}

// After the store was set back, an earlier activation with this epoch may have a write under way,
// which must not find the version that it replaces.
std::uint64_t ObjectCell::next_version() const {
  return std::max(version_, type_.late_version_of(id_)) + 1;
}

// Asks the store after a write that was refused, or whose outcome is unknown.
Result<void> ObjectCell::find_out_version(Deadline deadline) {
  auto stored = surroundings_.store.seal(key(), epoch_, deadline);
  if (!stored && stored.error().code() == Code::aborted) {
    is_lost_ = true;
    return owned_by_another();
  }
  if (!stored) return stored.error();
  // Only we write under our epoch. So another version, unless a write of ours was late, means that
  // the store was set back.
  const bool was_late = may_write_late_ && stored->version == next_version();
  const bool is_forgotten = row_is_empty_ && stored->version == 0;
  const bool is_trusted = COROLANE_SEEDED_BUG(set_back_trusted);
  if (stored->version != version_ && !was_late && !is_forgotten && !is_trusted) {
    is_lost_ = true;
    return type_.host().lost_writes(*this, stored->version);
  }
  has_written_ = has_written_ || was_late;
  version_ = stored->version;
  version_is_unsure_ = false;
  return {};
}

// Null: as it is now.
std::string ObjectCell::serialise(const UndoPoint* earlier) {
  const bool is_tombstone = earlier == nullptr ? is_destroyed_ : earlier->was_destroyed;
  ObjectRecord record;
  // A tombstone keeps the ledger: the retry of a call that has destroyed its object gets its reply.
  if (!is_tombstone) {
    serialise_in_order(earlier == nullptr ? object_->state_message() : *earlier->state,
                       *record.mutable_state());
    stored_hash_ = std::hash<std::string_view>()(record.state());
    if (earlier != nullptr) {
      *record.mutable_reminders() = earlier->alarms.reminders();
    } else if (alarms_ != nullptr) {
      alarms_->reminders.store(record);
    }
    if (alarms_ != nullptr) {
      alarms_->outbox.store(record,
                            earlier == nullptr ? alarms_->outbox.size() : earlier->outbox_size);
    }
  }
  const bool forgets = COROLANE_SEEDED_BUG(request_ids_outside_state) ||
                       (is_tombstone && COROLANE_SEEDED_BUG(request_ids_destroyed));
  if (forgets) return record.SerializeAsString();
  std::string bytes;
  bytes.reserve(record.ByteSizeLong() + ledger_bytes());
  record.AppendToString(&bytes);
  if (ledger_ != nullptr) ledger_->append_to(bytes);
  if (outbox_ledger_ != nullptr) outbox_ledger_->append_to(bytes);
  if (unknown_fields_ != nullptr && !is_tombstone) bytes += *unknown_fields_;
  return bytes;
}

bool ObjectCell::has_unmarked_change() {
  if (is_changed_ || !has_written_ || is_destroyed_ || !is_active()) return false;
  std::string state;
  serialise_in_order(object_->state_message(), state);
  return std::hash<std::string_view>()(state) != stored_hash_;
}

}  // namespace corolane::framework::detail
