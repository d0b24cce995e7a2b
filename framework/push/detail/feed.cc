// SPDX-License-Identifier: MIT
#include "framework/push/detail/feed.h"

#include <cstddef>
#include <utility>

#include "framework/push/detail/publication_traces.h"
#include "framework/wire/detail/object_error.h"
#include "framework/wire/push.pb.h"

namespace corolane::framework::detail {

Result<void> Feed::receive(const PublishedBatch& batch, rpc::Tracer* tracer,
                           bool is_from_other_node) {
  const Position last = broadcast_->position();
  if (batch.after < last) {
    return moved_error(type_, id_, {.partition_epoch = batch.after.epoch});
  }
  if (!broadcast_->has_begun() || batch.after != last) {
    broadcast_->begin(batch.after, is_new_source_ ? Gap::moved : Gap::behind);
  }
  is_new_source_ = false;
  auto traced = batch.traces.begin();
  for (std::size_t i = 0; i < batch.messages.size(); ++i) {
    const bool is_traced = traced != batch.traces.end() && traced->index == i;
    broadcast_->append(batch.messages[i], is_traced ? (traced++)->trace : nullptr);
  }
  if (!batch.traces.empty()) [[unlikely]] {
    note_received(
        tracer, {.type = type_, .id = id_}, prototype_, batch,
        {.subscriber_count = broadcast_->reader_count(), .is_from_other_node = is_from_other_node});
  }
  return {};
}

Result<void> Feed::receive(const PublicationBatch& batch, rpc::Tracer* tracer) {
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
  if (batch.traces_size() > 0) [[unlikely]]
    parsed.traces = traces_of(batch);
  return receive(parsed, tracer, /*is_from_other_node=*/true);
}

}  // namespace corolane::framework::detail
