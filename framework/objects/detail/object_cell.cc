// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_cell.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_host.h"
#include "framework/wire/detail/object_error.h"
#include "framework/wire/objects.pb.h"

namespace corolane::framework {

const std::string& ObjectBase::id() const { return cell_->id(); }

Router& ObjectBase::router() const { return cell_->router(); }

Result<bool> ObjectBase::wait_until(const std::function<bool()>& predicate,
                                    Deadline deadline) const {
  return cell_->type().host().wait_until(*cell_, predicate, deadline);
}

Result<void> ObjectBase::run_outside(const std::function<void()>& work, Deadline deadline) const {
  return cell_->type().host().run_outside(*cell_, work, deadline);
}

void ObjectBase::destroy() { cell_->destroy(); }

void ObjectBase::deactivate() { cell_->leave_soon(); }

Result<void> ObjectBase::save() { return cell_->type().host().save_now(*cell_); }

ObjectTimers ObjectBase::timers() {
  check(cell_ != nullptr, "an object has timers from on_activate() on");
  return ObjectTimers(cell_->alarms().timers);
}

Router& ObjectBase::outbox() {
  check(cell_ != nullptr, "an object has an outbox from on_activate() on");
  return cell_->alarms().outbox.router();
}

std::size_t ObjectBase::outbox_size() const {
  const auto* const alarms = cell_->known_alarms();
  return alarms == nullptr ? 0 : alarms->outbox.size();
}

ObjectReminders ObjectBase::reminders() {
  check(cell_ != nullptr, "an object has reminders from on_activate() on");
  return ObjectReminders(cell_->alarms().reminders);
}

const WallClock& ObjectBase::wall_clock() const { return cell_->wall_clock(); }

void ObjectBase::begin_change() {
  // In a constructor there is nothing to store yet.
  if (cell_ != nullptr) cell_->mark_changed();
}

namespace detail {
namespace {

// The memory of a block of `size` bytes, with the 8 bytes of the allocator.
constexpr std::size_t block_bytes(std::size_t size) {
  return std::max<std::size_t>(32, (size + 8 + 15) / 16 * 16);
}

// The entries of an object in the containers of its shard, type and partition: two list nodes, and
// a pointer each in two tables with spare capacity.
constexpr std::size_t place_bytes = 32 + 48 + 2 * 12;

// A short text is stored in the string itself.
std::size_t text_bytes(const std::string& text) {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? block_bytes(text.capacity() + 1) : 0;
}

}  // namespace

ObjectKey ObjectCell::key() const {
  return {.type = type_.name(), .id = id_, .partition = partition_};
}

RequestLedger& ObjectCell::ledger(const rpc::RequestId& id) {
  auto& ledger = id.scope == outbox_scope ? outbox_ledger_ : ledger_;
  if (ledger == nullptr) {
    ledger = std::make_unique<RequestLedger>(id.scope == outbox_scope
                                                 ? RequestLedger::Options::of_outboxes()
                                                 : RequestLedger::Options());
  }
  return *ledger;
}

void ObjectCell::load_requests(const ObjectRecord& record) {
  for (const AppliedCaller& caller : record.callers()) {
    ledger({.scope = caller.scope()}).load(caller, wall_clock().now());
  }
}

std::size_t ObjectCell::ledger_bytes() const {
  std::size_t bytes = 0;
  for (const auto* const ledger : {ledger_.get(), outbox_ledger_.get()}) {
    if (ledger != nullptr) bytes += block_bytes(sizeof(RequestLedger)) + ledger->bytes();
  }
  return bytes;
}

ObjectAlarms& ObjectCell::alarms() {
  if (alarms_ == nullptr) alarms_ = std::make_unique<ObjectAlarms>(type_.host().alarms(), *this);
  return *alarms_;
}

std::optional<WallTime> ObjectCell::wake_at() const {
  if (alarms_ == nullptr || is_destroyed_) return {};
  const auto by_reminder = alarms_->reminders.wake_at();
  const auto by_outbox = alarms_->outbox.wake_at();
  return by_reminder && by_outbox ? std::min(*by_reminder, *by_outbox)
                                  : (by_reminder ? by_reminder : by_outbox);
}

Router& ObjectCell::router() const { return surroundings_.owners.router(); }

Error ObjectCell::moved() const {
  return moved_error(type_.name(), id_, surroundings_.owners.owner_of(type_, partition_));
}

void ObjectCell::mark_changed() {
  if (is_durable_turn_) keep_for_undo();
  ++change_number_;
  if (is_changed_ || (type_.is_transient() && !is_destroyed_)) return;
  is_changed_ = true;
  changed_since_ = coroutine::Scheduler::current().turn_time();
}

Result<void> ObjectCell::activate(Deadline deadline) {
  check(object_ == nullptr, "an object is dropped before the next activation");
  const Ownership::Epoch epoch = type_.ownership().epoch(partition_);
  if (!type_.ownership().holds(partition_, epoch)) return moved();
  if (rests()) return resting();
  // The seal precedes the load: from now on writes of earlier owners are refused.
  auto stored =
      type_.is_transient() ? StoredObject() : surroundings_.store.seal(key(), epoch, deadline);
  if (!stored) {
    const Error& error = stored.error();
    if (error.code() == Code::aborted) return owned_by_another();
    if (error.maybe_executed()) abandon_seal(epoch);
    // The flag maybe_executed concerned the seal only: no handler has begun.
    return Error(error.code(), error.message()).with_retry_after(error.retry_after());
  }
  epoch_ = epoch;
  active_since_ = coroutine::Scheduler::current().turn_time();
  auto ready = load(*stored);
  if (ready) ready = run_hook("on_activate", deadline, [this] { return object_->on_activate(); });
  if (!ready) {
    const bool may_release = may_release_seal();
    drop();
    if (may_release) abandon_seal(epoch);
    return ready;
  }
  has_abandoned_seal_ = false;
  measure();
  return {};
}

// The frame makes call cycles through the hook visible, as for a method.
template <typename F>
Result<void> ObjectCell::run_hook(const char* name, Deadline deadline, F&& hook) {
  const std::string label = std::string(type_.name()) + "/" + name;
  const CallChain* const outer = CallChain::current();
  const CallChain::Frame frame(outer == nullptr ? nullptr : outer->link(), label.c_str(), id_,
                               epoch_, /*turn=*/nullptr);
  const coroutine::CancelScope part(deadline);
  return type_.host().without_exceptions(*this, label, std::forward<F>(hook));
}

Result<void> ObjectCell::load(const StoredObject& stored) {
  version_ = stored.version;
  has_written_ = may_write_late_ = false;
  row_is_empty_ = version_ == 0 || stored.is_tombstone;
  object_ = type_.make_object();
  object_->cell_ = this;
  type_.note_empty_state(object_->state_message().SpaceUsedLong());
  if (version_ == 0) return {};
  ObjectRecord record;
  if (!record.ParseFromString(stored.bytes) ||
      !object_->state_message().ParseFromString(record.state())) {
    return Error(Code::data_loss, "the stored state of " + std::string(type_.name()) + " \"" + id_ +
                                      "\" is not a " + object_->state_message().GetTypeName() +
                                      ": was its proto changed incompatibly?");
  }
  load_requests(record);
  const auto& unknown = ObjectRecord::GetReflection()->GetUnknownFields(record);
  if (!unknown.empty()) {
    std::string fields;
    check(unknown.SerializeToString(&fields), "what was decoded can be encoded");
    unknown_fields_ = std::make_unique<const std::string>(std::move(fields));
  }
  if (record.has_outbox()) alarms().outbox.load(record);
  if (record.reminders_size() == 0) return {};
  auto loaded = alarms().reminders.load(record);
  if (loaded) return loaded;
  return std::move(loaded.error()).with_context(std::string(type_.name()) + " " + quote(id_));
}

Result<void> ObjectCell::deactivate(Deadline deadline, bool releases) {
  if (!is_active()) {
    drop();
    return {};
  }
  if (!is_destroyed_) {
    const Deadline ended_by = Deadline::after(last_hook_time_max);
    static_cast<void>(run_hook(last_hook, ended_by, [this]() -> Result<void> {
      object_->on_deactivate();
      return {};
    }));
  }
  // The next owner goes on with the outbox at once. One that is idle comes back at its own time.
  const bool moves = !releases || type_.host().is_on_the_move(type_, partition_);
  const bool has_calls_out =
      moves && alarms_ != nullptr && !is_destroyed_ && alarms_->outbox.size() > 0;
  if (has_calls_out) {
    alarms_->outbox.set_leaving(true);
    mark_changed();
  }
  auto saved = save(deadline);
  if (has_calls_out && !saved) alarms_->outbox.set_leaving(false);
  if (const auto time = wake_at(); saved && time) type_.host().wake_later(*this, *time);
  if (saved && releases) release_seal(deadline);
  if (saved || is_lost_) drop();
  return saved;
}

// Requires that nothing was written since the load. In a shared store a stored object keeps its
// seal in its row.
bool ObjectCell::may_release_seal() const {
  if (has_written_ || version_is_unsure_ || is_lost_ || type_.is_transient()) return false;
  return version_ == 0 || !surroundings_.store.is_shared();
}

void ObjectCell::abandon_seal(Ownership::Epoch epoch) {
  epoch_ = epoch;
  has_abandoned_seal_ = true;
}

void ObjectCell::release_seal(Deadline deadline) {
  // A failed release only leaves an empty row.
  if (may_release_seal()) {
    static_cast<void>(surroundings_.store.release(key(), epoch_, deadline));
  }
}

void ObjectCell::release_abandoned_seal(Deadline deadline) {
  if (is_active() || !std::exchange(has_abandoned_seal_, false)) return;
  static_cast<void>(surroundings_.store.release(key(), std::exchange(epoch_, 0), deadline));
}

ObjectCell::Handler* ObjectCell::find_handler(const rpc::RequestId& request_id) const {
  for (Handler* handler = handlers_; handler != nullptr; handler = handler->next_) {
    if (handler->request_id_ == request_id) return handler;
  }
  return nullptr;
}

void ObjectCell::cancel_handlers() {
  for (Handler* handler = handlers_; handler != nullptr; handler = handler->next_) {
    handler->part_.cancel();
  }
}

bool ObjectCell::wait_until_alone(Deadline deadline) {
  while (outside_count_ > 0) {
    if (!none_outside_.wait(deadline)) return false;
  }
  return wait_for_writer(deadline).has_value();
}

void ObjectCell::drop() {
  // Handlers that were told to leave need no turn to do so. They use the object until they have
  // left, so this wait ignores cancellation.
  while (outside_count_ > 0) none_outside_.wait_uncancelled(Deadline::never());
  while (is_writing_) write_ended_.wait_uncancelled(Deadline::never());
  alarms_.reset();
  end_publishing();
  undo_.reset();
  object_.reset();
  ledger_.reset();
  outbox_ledger_.reset();
  unknown_fields_.reset();
  is_changed_ = is_lost_ = is_destroyed_ = wants_to_leave_ = hides_change_ = false;
  version_is_unsure_ = has_abandoned_seal_ = false;
  epoch_ = 0;
  size_bytes_ = 0;
}

void ObjectCell::destroy() {
  if (is_durable_turn_) keep_for_undo();
  is_destroyed_ = true;
  mark_changed();
  hide_change();
}

void ObjectCell::measure() {
  const std::size_t state_bytes = object_->state_message().SpaceUsedLong();
  size_bytes_ = block_bytes(sizeof(ObjectCell)) + text_bytes(id_) + place_bytes +
                block_bytes(type_.object_bytes()) + history_.extra_bytes() + ledger_bytes() +
                (alarms_ == nullptr ? 0 : alarms_->outbox.bytes()) +
                (unknown_fields_ == nullptr
                     ? 0
                     : block_bytes(sizeof(std::string)) + text_bytes(*unknown_fields_)) +
                state_bytes - std::min(state_bytes, type_.empty_state_bytes());
}

}  // namespace detail
}  // namespace corolane::framework
