// SPDX-License-Identifier: MIT
#include "framework/objects/detail/hosted_type.h"

#include <utility>

#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/pass_on.h"
#include "rpc/observe/call_outcome.h"

namespace corolane::framework::detail {

HostedType::HostedType(ObjectHost& host, ObjectType type, const Ownership& ownership,
                       Factory factory, std::size_t object_bytes, const HostOptions& options)
    : loads(ownership.partition_count()),
      host_(host),
      type_(type),
      ownership_(ownership),
      factory_(std::move(factory)),
      object_bytes_(object_bytes),
      options_(options),
      partition_of_(options.affinity.empty() ? PartitionHash(type.name, ownership.partition_count())
                                             : PartitionHash::of_affinity(
                                                   options.affinity, ownership.partition_count())),
      rows_(type.methods.begin(), type.methods.end()) {
  for (rpc::Method& row : rows_) {
    row.invoke = invoke;
    row.passes_on = true;
  }
  for (const rpc::Method& method : type.methods) {
    method_records_.push_back({.full_name = method.full_name});
  }
}

void HostedType::MethodRecord::note(const Error& error, Deadline deadline) {
  ++error_count;
  if (rpc::is_fault_of_server(error, deadline.has_passed())) ++fault_count;
}

ObjectCell* HostedType::find(std::string_view id) const {
  const auto found = cells_.find(id);
  return found == cells_.end() ? nullptr : found->second.get();
}

ObjectCell& HostedType::add(std::string_view id, const ObjectCell::Surroundings& surroundings) {
  auto cell = std::make_unique<ObjectCell>(*this, id, partition_of_(id), surroundings);
  ObjectCell& added = *cell;
  cells_.emplace(added.id(), std::move(cell));
  auto& neighbours = by_partition_[added.partition()];
  added.place_in_partition = neighbours.size();
  neighbours.push_back(&added);
  return added;
}

void HostedType::remove(ObjectCell& cell) {
  const auto place = by_partition_.find(cell.partition());
  auto& neighbours = place->second;
  neighbours.back()->place_in_partition = cell.place_in_partition;
  neighbours[cell.place_in_partition] = neighbours.back();
  neighbours.pop_back();
  if (neighbours.empty()) by_partition_.erase(place);
  cells_.erase(cell.id());
}

ObjectStatistics HostedType::statistics() const {
  ObjectStatistics statistics = counts;
  statistics.active_count = cells_.size();
  return statistics;
}

Result<void> HostedType::invoke(rpc::Service& service, const google::protobuf::Message& request,
                                rpc::Context& context, rpc::Messages& sink) {
  auto& type = static_cast<HostedType&>(service);
  if (context.object() == nullptr) return object_is_missing(context);
  const auto index = static_cast<std::size_t>(&context.descriptor() - type.rows_.data());
  return type.host_.serve_or_send_on(type, type.method(index), request, context, sink);
}

}  // namespace corolane::framework::detail
