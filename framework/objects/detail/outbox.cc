// SPDX-License-Identifier: MIT
#include "framework/objects/detail/outbox.h"

#include <google/protobuf/empty.pb.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "framework/alarms/detail/alarm.h"
#include "framework/alarms/detail/alarm_runner.h"
#include "framework/alarms/detail/retry_delay.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_alarms.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/method_name.h"
#include "framework/wire/detail/object_error.h"
#include "rpc/wire/frame.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The calls that are on their way at the same time.
constexpr std::size_t concurrency_max = 16;
// How soon another node delivers what its owner could not, when that has died.
constexpr std::chrono::milliseconds wake_delay = 5s;
// The pause of an outbox that has lost its turn.
constexpr Duration pause_without_turn = 100ms;
// The time that a call has when its method is not known here.
constexpr Duration foreign_method_timeout = 10s;

bool has_empty_reply(const rpc::Method& method) {
  if (method.new_reply == nullptr || method.is_stream()) return false;
  const std::unique_ptr<google::protobuf::Message> reply(method.new_reply(nullptr));
  return reply->GetDescriptor()->field_count() == 0;
}

}  // namespace

class Outbox::OutboxAlarm final : public Alarm {
 public:
  OutboxAlarm(Outbox& outbox, AlarmRunner& runner, AlarmOwner& owner)
      : Alarm(runner, owner, "outbox", coroutine::StackPool::stack_size_bytes_default),
        outbox_(outbox) {}

 private:
  void act() override { outbox_.deliver_due(); }
  std::optional<TimePoint> next_time() const override { return outbox_.next_time(); }

  Outbox& outbox_;  // Valid until the alarm has ended.
};

Outbox::Outbox(AlarmRunner& runner, ObjectAlarms& owner, ObjectCell& cell)
    : runner_(runner), owner_(owner), cell_(cell) {}

Router& Outbox::router() {
  if (router_ == nullptr) router_ = cell_.type().host().owners().outbox_router(*this);
  return *router_;
}

Outbox::~Outbox() {
  if (alarm_ != nullptr) alarm_->end();
  entries_.clear();
  count_entries();
}

Result<void> Outbox::put(const rpc::Method& method, const std::string& id,
                         const google::protobuf::Message& request) {
  if (owner_.is_transient()) {
    return Error(Code::failed_precondition, "objects of type " + std::string(owner_.type_name()) +
                                                " are transient, so they have no outbox");
  }
  if (!method.durable || !has_empty_reply(method)) {
    return Error(Code::invalid_argument,
                 std::string(method.full_name) +
                     " cannot be called from an outbox: make it durable, and let it return a "
                     "message without fields, such as google.protobuf.Empty");
  }
  if (auto valid = check_object_id(type_of(method.full_name), id); !valid) return valid;
  std::string bytes = request.SerializeAsString();
  if (entries_.size() >= call_count_max || bytes_ + bytes.size() > bytes_max) {
    return Error(Code::resource_exhausted,
                 "the outbox of " + std::string(owner_.type_name()) + " " + quote(owner_.id()) +
                     " is full: " + std::to_string(entries_.size()) + " calls of " +
                     std::to_string(bytes_) + " bytes are not delivered");
  }
  cell_.mark_changed();
  if (caller_.empty()) {
    // Unique: no other process has owned the partition under that epoch.
    caller_ = std::to_string(cell_.partition())
                  .append("-")
                  .append(std::to_string(cell_.epoch()))
                  .append("-")
                  .append(std::to_string(cell_.type().host().next_outbox_number()));
  }
  bytes_ += bytes.size();
  entries_.push_back(
      {.number = ++last_number_, .method = &method, .id = id, .request = std::move(bytes)});
  count_entries();
  if (COROLANE_SEEDED_BUG(outbox_sent_early)) note_written(entries_.size());
  return {};
}

void Outbox::note_written(std::size_t count) {
  bool has_new = false;
  for (Entry& entry : std::span(entries_).first(std::min(count, entries_.size()))) {
    has_new |= !std::exchange(entry.is_stored, true);
  }
  if (has_new) arm();
}

void Outbox::take_back(std::size_t count) {
  while (entries_.size() > count) {
    bytes_ -= entries_.back().request.size();
    entries_.pop_back();
  }
  count_entries();
}

std::optional<WallTime> Outbox::wake_at() const {
  if (entries_.empty()) return {};
  const WallTime time = runner_.clock().now();
  return is_leaving_ ? time : time + wake_delay;
}

void Outbox::load(const ObjectRecord& record) {
  const StoredOutbox& stored = record.outbox();
  caller_ = stored.caller();
  // Receivers may know later numbers, of calls that a store has lost again: new ones are beyond
  // those, since no object sends a call each microsecond.
  const auto time = runner_.clock().now().time_since_epoch();
  last_number_ = std::max(stored.last_number(),
                          static_cast<std::uint64_t>(
                              std::chrono::duration_cast<std::chrono::microseconds>(time).count()));
  for (const StoredCall& call : stored.calls()) {
    entries_.push_back({.number = call.number(),
                        .method = &cell_.type().host().method_of(call.method()),
                        .id = call.id(),
                        .request = call.request(),
                        .is_stored = true});
    bytes_ += call.request().size();
  }
  count_entries();
  if (!entries_.empty()) arm();
}

void Outbox::store(ObjectRecord& record, std::size_t count) const {
  if (caller_.empty()) return;
  StoredOutbox& stored = *record.mutable_outbox();
  stored.set_caller(caller_);
  stored.set_last_number(last_number_);
  for (const Entry& entry : std::span(entries_).first(count)) {
    StoredCall& call = *stored.add_calls();
    call.set_number(entry.number);
    call.set_method(entry.method->full_name);
    call.set_id(entry.id);
    call.set_request(entry.request);
  }
}

void Outbox::arm() {
  if (alarm_ == nullptr) alarm_ = std::make_shared<OutboxAlarm>(*this, runner_, owner_);
  alarm_->arm();
}

std::vector<const Outbox::Entry*> Outbox::heads() const {
  std::vector<const Entry*> heads;
  std::set<std::pair<std::string_view, std::string_view>> targets;
  for (const Entry& entry : entries_) {
    if (!entry.is_stored) break;  // All later ones are newer.
    if (targets.emplace(type_of(entry.method->full_name), entry.id).second) heads.push_back(&entry);
  }
  return heads;
}

std::optional<TimePoint> Outbox::next_time() const {
  std::optional<TimePoint> first;
  for (const Entry* head : heads()) {
    const TimePoint time = std::max(head->not_before, not_before_);
    if (!first || time < *first) first = time;
  }
  return first;
}

// Without the turn, so that the object goes on serving: also a receiver that calls back.
void Outbox::deliver_due() {
  std::vector<Delivery> deliveries;
  for (const Entry* head : heads()) {
    if (head->not_before <= now()) deliveries.push_back({.entry = *head});
  }
  auto back = cell_.type().host().run_outside(
      cell_,
      [&] {
        static_cast<void>(coroutine::for_each(
            deliveries, {.concurrency = concurrency_max, .name = "outbox"},
            [&](Delivery& delivery) { delivery.result = deliver(delivery.entry); },
            Deadline::never()));
      },
      Deadline::never());
  if (!back) {
    // The object leaves, and its next owner goes on; or this task was cancelled.
    not_before_ = now() + pause_without_turn;
    return;
  }
  settle(deliveries);
}

Result<void> Outbox::deliver(const Entry& entry) const {
  // No handler of this object waits for the call.
  CallChain::enter(CallChain());
  const std::unique_ptr<google::protobuf::Message> request(entry.method->new_request(nullptr));
  const std::unique_ptr<google::protobuf::Message> reply(entry.method->new_reply(nullptr));
  if (!request->ParseFromString(entry.request)) {
    return Error(Code::data_loss, "its request is not a " + request->GetTypeName());
  }
  rpc::CallOptions options;
  if (!COROLANE_SEEDED_BUG(outbox_without_ids)) {
    options.request_id = {.caller = caller_, .sequence = entry.number, .scope = outbox_scope};
  }
  return cell_.type().host().owners().call(*entry.method, entry.id, *request, *reply, options);
}

// Both are in the order of their numbers.
void Outbox::settle(std::span<const Delivery> deliveries) {
  ObjectStatistics& counts = cell_.type().counts;
  std::erase_if(entries_, [&](Entry& entry) {
    if (deliveries.empty() || deliveries.front().entry.number != entry.number) return false;
    const Result<void>& delivered = deliveries.front().result;
    deliveries = deliveries.subspan(1);
    if (!delivered) {
      ++counts.failed_delivery_count;
      note_failure(entry, delivered.error());
      return false;
    }
    ++counts.delivery_count;
    cell_.mark_changed();
    bytes_ -= entry.request.size();
    failure_.reset();
    return true;
  });
  count_entries();
}

void Outbox::note_failure(Entry& entry, const Error& error) {
  failure_ = error;
  entry.not_before = now() + retry_delay(++entry.failed_count);
  runner_.log().warning("call in an outbox not delivered", {{"type", owner_.type_name()},
                                                            {"id", owner_.id()},
                                                            {"method", entry.method->full_name},
                                                            {"to", entry.id},
                                                            {"failures", entry.failed_count},
                                                            {"error", error.to_string()}});
}

const rpc::Method* ObjectHost::find_method(std::string_view full_name) const {
  const HostedType* const type = find_type(type_of(full_name));
  if (type == nullptr) return nullptr;
  const auto rows = type->methods();
  const auto row = std::ranges::find(rows, full_name, &rpc::Method::full_name);
  return row == rows.end() ? nullptr : &type->method(static_cast<std::size_t>(row - rows.begin()));
}

const rpc::Method& ObjectHost::method_of(std::string_view full_name) {
  if (const rpc::Method* const known = find_method(full_name)) return *known;
  const auto place = foreign_methods_.try_emplace(std::string(full_name)).first;
  rpc::Method& method = place->second;
  method.full_name = place->first.c_str();
  method.id = rpc::method_id(full_name);
  method.timeout = foreign_method_timeout;
  method.stack_size_bytes = coroutine::StackPool::stack_size_bytes_default;
  const auto make = [](google::protobuf::Arena*) -> google::protobuf::Message* {
    return new google::protobuf::Empty;
  };
  method.new_request = make;
  method.new_reply = make;
  method.take_reply = [](google::protobuf::Message&, google::protobuf::Message&) {};
  return method;
}

void Outbox::count_entries() {
  cell_.type().counts.outbox_count += entries_.size() - std::exchange(counted_, entries_.size());
}

}  // namespace corolane::framework::detail
