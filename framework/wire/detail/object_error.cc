// SPDX-License-Identifier: MIT
#include "framework/wire/detail/object_error.h"

#include <string>

#include "framework/wire/objects.pb.h"

namespace corolane::framework::detail {

Error moved_error(std::string_view type, std::string_view id, const Moved& moved) {
  ObjectMoved detail;
  detail.set_partition(moved.partition);
  detail.set_node_epoch(moved.node_epoch);
  detail.set_partition_epoch(moved.partition_epoch);
  return Error(Code::aborted,
               std::string(type).append(" \"").append(id).append("\" does not live here"))
      .with_detail(detail.SerializeAsString());
}

std::optional<Moved> moved_of(const Error& error) {
  if (error.code() != Code::aborted || error.detail().empty()) return std::nullopt;
  ObjectMoved detail;
  if (!detail.ParseFromString(error.detail()) || detail.partition() >= partition_count_max) {
    return std::nullopt;
  }
  return Moved{.partition = static_cast<Partition>(detail.partition()),
               .node_epoch = detail.node_epoch(),
               .partition_epoch = detail.partition_epoch()};
}

Error object_id_too_long(std::string_view type, std::string_view id) {
  return Error(Code::invalid_argument, "an id of " + std::string(type) + " has " +
                                           std::to_string(id.size()) + " bytes; the limit is " +
                                           std::to_string(object_id_bytes_max));
}

Error stream_is_not_remembered(const rpc::Method& method) {
  return Error(Code::invalid_argument, std::string(method.full_name) +
                                           " replies with a stream, which no object remembers: "
                                           "call it without a request id")
      .with_not_executed();
}

}  // namespace corolane::framework::detail
