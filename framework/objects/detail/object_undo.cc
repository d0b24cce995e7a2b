// SPDX-License-Identifier: MIT
// What a durable handler has changed is undone when it fails.
#include <memory>

#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"

namespace corolane::framework::detail {

void ObjectCell::begin_durable_turn() {
  is_durable_turn_ = true;
  kept_position_ = published();
}

void ObjectCell::keep_for_undo() {
  if (undo_ != nullptr || object_ == nullptr) return;
  undo_ = std::make_unique<UndoPoint>();
  const google::protobuf::Message& state = object_->state_message();
  undo_->state.reset(state.New());
  undo_->state->CopyFrom(state);
  if (alarms_ != nullptr) {
    alarms_->reminders.store(undo_->alarms);
    undo_->outbox_size = alarms_->outbox.size();
  }
  undo_->wake_at = wake_at();
  undo_->change_number = change_number_;
  undo_->was_changed = is_changed_;
  undo_->was_destroyed = is_destroyed_;
  undo_->hid_change = hides_change_;
}

void ObjectCell::undo() {
  if (!is_durable_turn_) return;
  if (topic_ != nullptr) topic_->take_back(kept_position_);
  if (undo_ == nullptr) return;
  object_->state_message().CopyFrom(*undo_->state);
  if (alarms_ != nullptr) {
    alarms_->reminders.restore(undo_->alarms);
    alarms_->outbox.take_back(undo_->outbox_size);
  }
  is_destroyed_ = undo_->was_destroyed;
  hides_change_ = undo_->hid_change;
  // A write with an unknown outcome may have stored what is undone here.
  is_changed_ = undo_->was_changed || version_is_unsure_;
  change_number_ = undo_->change_number;
  undo_.reset();
}

}  // namespace corolane::framework::detail
