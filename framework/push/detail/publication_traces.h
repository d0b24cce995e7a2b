// SPDX-License-Identifier: MIT
// The traces of publications: the spans of an object that publishes, of a shard that receives, and
// of an object that handles a publication, by the conventions of OpenTelemetry for messages
// (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/, version 1.37).
//
//   publish room.RoomEvent           kind producer; in the object's task
//     receive room.RoomEvent         kind consumer; one for each shard with subscribers
//     handle room.RoomEvent          kind consumer; one for each object that follows it
//
// Only the publications of sampled traces have a context, which travels with them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"
#include "rpc/call_scope.h"
#include "rpc/observe/tracing.h"

namespace corolane::framework {
class PublicationBatch;
}

namespace corolane::framework::detail {

// An object that publishes.
struct Publisher {
  std::string_view type;  // "package.Room".
  std::string_view id;
};

// Makes the span of a message that `publisher` publishes at `position`, on behalf of `parent`.
// Never null. `tracer` may be null, here and below: then the trace is passed on.
PublicationTrace note_published(rpc::Tracer* tracer, const rpc::TraceContext& parent,
                                const Publisher& publisher,
                                const google::protobuf::Message& message, Position position);

// Where publications arrive.
struct Arrival {
  std::size_t subscriber_count;  // On this shard.
  bool is_from_other_node;
};

// Makes the spans of a batch that has arrived.
void note_received(rpc::Tracer* tracer, const Publisher& publisher,
                   const google::protobuf::Message& prototype, const PublishedBatch& batch,
                   const Arrival& arrival);

// The trace of the calling task, which has none of its own, while it delivers a publication:
// nothing when that has none.
class DeliveryTrace {
 public:
  explicit DeliveryTrace(const Published* published)
      : published_(published != nullptr && published->trace != nullptr ? published : nullptr) {
    if (published_ != nullptr) [[unlikely]]
      set(*published_->trace);
  }
  ~DeliveryTrace() {
    if (published_ != nullptr) [[unlikely]]
      set({});
  }
  DeliveryTrace(const DeliveryTrace&) = delete;
  DeliveryTrace& operator=(const DeliveryTrace&) = delete;

  bool is_sampled() const { return published_ != nullptr; }
  // Opens the span of its handler. There must be a sampled trace.
  rpc::Span handle(rpc::Tracer* tracer) const;

 private:
  static void set(const rpc::TraceContext& trace);

  const Published* const published_;
};

// Put the traces of a batch on the wire and take them from there. What is malformed is left out.
void add_traces(const PublishedBatch& batch, PublicationBatch& message);
std::vector<PublishedBatch::Trace> traces_of(const PublicationBatch& message);

}  // namespace corolane::framework::detail
