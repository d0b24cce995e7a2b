// SPDX-License-Identifier: MIT
#include "framework/push/detail/feed.h"

#include <utility>

#include "framework/wire/detail/object_error.h"
#include "framework/wire/push.pb.h"

namespace corolane::framework::detail {

Result<void> Feed::receive(const PublishedBatch& batch) {
  const Position last = broadcast_->position();
  if (batch.after < last) {
    return moved_error(type_, id_, {.partition_epoch = batch.after.epoch});
  }
  if (!broadcast_->has_begun() || batch.after != last) {
    broadcast_->begin(batch.after, is_new_source_ ? Gap::moved : Gap::behind);
  }
  is_new_source_ = false;
  for (const Broadcast::Message& message : batch.messages) broadcast_->append(message);
  return {};
}

Result<void> Feed::receive(const PublicationBatch& batch) {
  PublishedBatch parsed{.after = {.epoch = batch.epoch(), .sequence = batch.sequence()},
                        .messages = {}};
  for (const std::string& bytes : batch.messages()) {
    std::shared_ptr<google::protobuf::Message> message(prototype_.New());
    if (!message->ParseFromString(bytes)) {
      return Error(Code::data_loss, "a publication of " + type_ + " \"" + id_ +
                                        "\" cannot be parsed as " + prototype_.GetTypeName() +
                                        ": do both nodes have the same proto?");
    }
    parsed.messages.push_back(std::move(message));
  }
  return receive(parsed);
}

}  // namespace corolane::framework::detail
