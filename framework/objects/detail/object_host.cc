// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_host.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/objects/detail/object_turn.h"
#include "framework/objects/detail/pass_on.h"
#include "framework/objects/detail/stream_outbox.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/object_error.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The retry delay after a full mailbox: about the time in which a full mailbox is served.
constexpr std::chrono::milliseconds full_mailbox_delay = 20ms;
// How long a node waits for the directory to confirm an ownership that a caller knows already.
constexpr Duration news_time_max = 500ms;

// The stored reply of another program version cannot be parsed.
Error unreadable(const rpc::Method& method, const rpc::RequestId& id) {
  return Error(Code::data_loss, "the stored reply to request " + std::to_string(id.sequence) +
                                    " of " + quote(id.caller) + " is not a reply of " +
                                    method.full_name + ": was its proto changed incompatibly?")
      .with_maybe_executed();
}

}  // namespace

ObjectHost::ObjectHost(const ObjectCell::Surroundings& surroundings, Log& log,
                       const Options& options)
    : surroundings_(surroundings),
      log_(log),
      options_(options),
      saver_(options.concurrent_saves_max,
             [this](ObjectCell& cell) { return begin_writing(cell); }),
      alarms_(options.alarms, surroundings.clock, log,
              [this](std::shared_ptr<Alarm> alarm) { return begin_run(std::move(alarm)); }),
      reminders_(
          options.reminders, surroundings.store, surroundings.clock, log,
          [this](Partition partition) { return surroundings_.owners.is_here(partition); },
          [this](RemindedType& type, std::string_view id) {
            return wake(static_cast<HostedType&>(type), id);
          }) {}

ObjectHost::~ObjectHost() {
  reminders_.stop();
  alarms_.stop(Deadline::passed());
  followers_.cancel_and_join();
  housekeeping_.cancel_and_join();
  check(std::ranges::all_of(cells(), &ObjectCell::is_idle),
        "no call runs in an object when its host is destroyed");
}

HostedType& ObjectHost::add(const ObjectType& type, const Ownership& ownership,
                            HostedType::Factory factory, std::size_t object_bytes,
                            const HostOptions& options) {
  return *types_.emplace_back(std::make_unique<HostedType>(
      *this, type, ownership, std::move(factory), object_bytes, options));
}

void ObjectHost::set_limits(std::uint32_t mailbox_max, Duration idle_time_max,
                            std::size_t memory_bytes_max) {
  options_.mailbox_max = mailbox_max;
  options_.idle_time_max = idle_time_max;
  options_.memory_bytes_max = memory_bytes_max;
}

Result<void> ObjectHost::start() {
  auto spawned = housekeeping_.spawn("idle objects", [this] { let_idle_go(); },
                                     {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) return spawned.error();
  spawned = housekeeping_.spawn("rows to forget", [this] { forget_rows(); },
                                {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) return spawned.error();
  spawned = housekeeping_.spawn("loads of partitions", [this] { measure_loads(); },
                                {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) return spawned.error();
  std::vector<RemindedType*> reminded;
  for (const auto& type : types_) reminded.push_back(type.get());
  if (auto watching = reminders_.start(std::move(reminded)); !watching) return watching;
  return saver_.start();
}

Result<ObjectCell*> ObjectHost::cell_of(HostedType& type, std::string_view id, MailboxPart part) {
  if (ObjectCell* const present = type.find(id)) {
    if (present->letters(part) < mailbox_max(type)) return present;
    return refuse(type, id, part == MailboxPart::readers ? "reading calls" : "calls");
  }
  if (auto valid = check_object_id(type.name(), id); !valid) return valid.error();
  const Partition partition = type.partition_of(id);
  if (type.ownership().epoch(partition) == 0) {
    ++type.counts.moved_count;
    return moved_error(type.name(), id, surroundings_.owners.owner_of(type, partition));
  }
  ObjectCell& added = type.add(id, surroundings_);
  added.place = type.by_use.insert(type.by_use.end(), &added);
  return &added;
}

Error ObjectHost::refuse(HostedType& type, std::string_view id, std::string_view what) const {
  ++type.counts.refused_count;
  return Error(Code::resource_exhausted, std::to_string(mailbox_max(type))
                                             .append(" ")
                                             .append(what)
                                             .append(" of ")
                                             .append(type.name())
                                             .append(" \"")
                                             .append(id)
                                             .append("\" are pending already"))
      .with_retry_after(full_mailbox_delay)
      .with_origin(Origin::runtime);
}

Result<void> ObjectHost::serve(HostedType& type, const rpc::Method& method,
                               const google::protobuf::Message& request, rpc::Context& context,
                               rpc::Messages& sink) {
  ++type.counts.call_count;
  if (auto valid = check_request_id(context.object()->request_id); !valid) return valid;
  if (method.server_streaming && context.object()->request_id) {
    return stream_is_not_remembered(method);
  }
  if (!released_.empty()) {
    auto decided = wait_for_move(type, context);
    if (!decided) return std::move(decided.error()).with_not_executed();
  }
  const MailboxPart part = method.read_only ? MailboxPart::readers : MailboxPart::writers;
  ObjectCell* place = type.find(context.object()->id);
  if (place == nullptr || place->letters(part) >= mailbox_max(type)) [[unlikely]] {
    auto found = cell_of(type, context.object()->id, part);
    if (!found) return std::move(found.error()).with_not_executed();
    place = *found;
  }
  ObjectCell& cell = *place;
  const std::uint32_t failed_before = cell.failed_activation_count;
  const Visit visit(*this, cell);
  Letter letter(cell, part);
  const CallChain* const outer = CallChain::current();
  Turn turn(*this, cell,
            {.what = method.full_name,
             .peer = context.peer(),
             .arrived_at = context.arrived_at(),
             .deadline = context.deadline(),
             .callers = outer == nullptr ? nullptr : outer->link()},
            &letter);
  auto result = [&] {
    auto begun = begin(turn, failed_before, method, context);
    if (!begun) return Result<void>(std::move(begun.error()).with_not_executed());
    if (method.server_streaming) return stream(turn, letter, method, request, context, sink);
    return invoke(turn, method, request, context, sink, nullptr);
  }();
  // Errors of the handler are marked already.
  if (!result) result = std::move(result.error()).with_origin(Origin::runtime);
  // The time of the turn would hide what a handler has computed. A call of a client, or of another
  // shard, is worth a look at the clock; one of another node or of this task is not.
  const bool reads_clock =
      context.has_own_task() && (context.door() == rpc::Door::clients || context.peer().empty());
  const TimePoint ended_at =
      reads_clock ? context.returned_at() : coroutine::Scheduler::current().turn_time();
  cell.history().add(method.full_name, result, turn.facts().arrived_at, ended_at);
  if (!result && cell.is_active()) note_failure(cell);
  return result;
}

// The history keeps error texts, and clients can cause any number of them, so the size is updated.
void ObjectHost::note_failure(ObjectCell& cell) {
  cell.measure();
  note_size(cell, cell.size_bytes());
}

// The usual call finds its object ready, and no other one inside: such a call waits for nothing.
[[gnu::always_inline]] inline Result<void> ObjectHost::begin(Turn& turn,
                                                             std::uint32_t failed_before,
                                                             const rpc::Method& method,
                                                             rpc::Context& context) {
  ObjectCell& cell = turn.cell();
  const bool may_wait =
      !cell.is_current() || cell.hides_change() || remembers(method, context.object()->request_id);
  if (may_wait || !turn.take_at_once(method.read_only)) {
    auto begun = wait_to_begin(turn, failed_before, method, context);
    if (!begun) return begun;
    context.set_begun_at(coroutine::Scheduler::current().turn_time());
  }
  if (!cell.is_owned()) {
    ++cell.type().counts.moved_count;
    return cell.moved();
  }
  return cell.rests() ? Result<void>(cell.resting()) : Result<void>();
}

Result<void> ObjectHost::wait_to_begin(Turn& turn, std::uint32_t failed_before,
                                       const rpc::Method& method, const rpc::Context& context) {
  ObjectCell& cell = turn.cell();
  HostedType& type = cell.type();
  for (;;) {
    // A call that finds the object inactive activates it, which needs the exclusive turn.
    const bool is_shared = method.read_only && cell.is_current() && !cell.hides_change();
    if (turn.facts().callers != nullptr) {
      if (auto may = check_may_wait(turn, method, is_shared); !may) return may;
    }
    if (!turn.take(is_shared, context.deadline())) return late(cell, context);
    bool is_ready = cell.is_current() && !cell.hides_change_from(method);
    if (!is_ready && !is_shared && !cell.has_stale_object() && !is_on_the_move(cell)) {
      if (auto made = make_ready(cell, failed_before, context.deadline()); !made) return made;
      is_ready = cell.is_current();  // Otherwise an earlier call has destroyed it.
    }
    if (is_ready) {
      // The same request may be running already, without a turn: this one waits for its end.
      const auto& request_id = context.object()->request_id;
      auto* const same = remembers(method, request_id) ? cell.find_handler(request_id) : nullptr;
      if (same == nullptr) return {};
      const auto ended = same->ended();
      turn.end();
      if (!ended->wait(context.deadline())) return late(cell, context).with_maybe_executed();
      continue;
    }
    turn.end();
    if (is_shared) continue;
    if (cell.has_stale_object()) {
      if (!drop_stale(cell, context.deadline())) return late(cell, context);
    } else if (is_on_the_move(cell)) {
      if (auto decided = wait_for_move(type, context); !decided) return decided;
    }
  }
}

Result<void> ObjectHost::serve_or_send_on(HostedType& type, const rpc::Method& method,
                                          const google::protobuf::Message& request,
                                          rpc::Context& context, rpc::Messages& sink) {
  const rpc::ObjectTarget& target = *context.object();
  if (auto valid = check_request_id(target.request_id); !valid) return valid;
  const Partition partition = type.partition_of(target.id);
  const bool is_for_this_node = target.node_epoch != 0;
  const bool is_here = surroundings_.owners.is_here(partition);
  if (!target.chain.empty()) {
    auto chain = link_of(target.chain);
    if (!chain) return chain.error();
    CallChain::enter(CallChain(*std::move(chain)));
  }
  const Ownership::Epoch epoch = type.ownership().epoch(partition);
  if (is_for_this_node && is_here && epoch != 0 && epoch >= target.partition_epoch) [[likely]]
    return serve(type, method, request, context, sink);
  return find_and_serve(type, method, request, context, sink, partition);
}

// The second part of serve_or_send_on(), for a call that may have to wait or to go elsewhere.
Result<void> ObjectHost::find_and_serve(HostedType& type, const rpc::Method& method,
                                        const google::protobuf::Message& request,
                                        rpc::Context& context, rpc::Messages& sink,
                                        Partition partition) {
  const rpc::ObjectTarget& target = *context.object();
  const bool is_for_this_node = target.node_epoch != 0;
  const bool is_here = surroundings_.owners.is_here(partition);
  if (is_for_this_node && !is_here) {
    return surroundings_.owners.forward(method, request, context, sink);
  }
  if (is_for_this_node) {
    auto owned = wait_for_ownership(type, partition, context);
    if (!owned) return std::move(owned.error()).with_not_executed();
  }
  std::optional<Error> failure;
  if (is_here && type.ownership().epoch(partition) != 0) {
    auto served = serve(type, method, request, context, sink);
    if (served || is_for_this_node || !moved_of(served.error())) return served;
    // The object has moved meanwhile; a client need not know.
    failure = served.error();
    if (!failure->not_executed() && !is_repeatable(method, target.request_id)) return served;
  }
  if (is_for_this_node) {
    ++type.counts.moved_count;
    return moved_error(type.name(), target.id, surroundings_.owners.owner_of(type, partition))
        .with_not_executed();
  }
  auto passed = pass_on(surroundings_.owners, method, request, context, sink);
  if (passed || !failure || method.one_way) return passed;
  return std::move(passed.error()).with_attempt(*failure);
}

// The caller knows of a change of owner before we do.
Result<void> ObjectHost::wait_for_ownership(const HostedType& type, Partition partition,
                                            const rpc::Context& context) {
  if (type.ownership().epoch(partition) >= context.object()->partition_epoch) return {};
  const Deadline deadline = earlier(context.deadline(), Deadline::after(news_time_max));
  // An epoch that was ours and has been handed over since needs no waiting.
  const auto known_epoch = [&] {
    return std::max(type.ownership().epoch(partition),
                    surroundings_.owners.owner_of(type, partition).partition_epoch);
  };
  while (known_epoch() < context.object()->partition_epoch) {
    // The watch may have missed the change.
    surroundings_.owners.doubt(type, partition);
    // After the deadline the caller may be wrong.
    if (ownership_changed_.wait(deadline)) continue;
    if (coroutine::is_cancelled()) return Error(Code::cancelled, "cancelled");
    break;
  }
  return {};
}

bool ObjectHost::may_reply_and_tell(const ObjectCell& cell, const rpc::RequestId& request_id,
                                    Proof proof) {
  Witness* const witness = surroundings_.witness;
  // Read before the check: at that time no other node was the owner.
  const TimePoint at = cell.type().ownership().fence().clock_now();
  if (!may_reply(cell, proof)) return false;
  if (cell.has_lease()) proof = Proof::lease;
  if (witness != nullptr) {
    witness->on_reply({.type = cell.type().name(),
                       .id = cell.id(),
                       .partition = cell.partition(),
                       .epoch = cell.epoch(),
                       .version = cell.version(),
                       .request_id = request_id,
                       .proof = proof});
  }
  log_.debug("object replies", {{"type", cell.type().name()},
                                {"id", cell.id()},
                                {"epoch", cell.epoch()},
                                {"version", cell.version()},
                                {"at", at.time_since_epoch().count()},
                                {"proven", proof != Proof::lease},
                                {"caller", request_id.caller},
                                {"sequence", request_id.sequence}});
  return true;
}

Error ObjectHost::late(const ObjectCell& cell, const rpc::Context& context) const {
  const std::string what =
      " while " + std::string(context.method()) + " waited for the turn of \"" + cell.id() + "\"";
  if (coroutine::is_cancelled()) return Error(Code::cancelled, "cancelled" + what);
  return long_waits_.explained(Error(Code::deadline_exceeded, "the deadline passed" + what),
                               cell.type().name(), cell.id());
}

Result<void> ObjectHost::make_ready(ObjectCell& cell, std::uint32_t failed_before,
                                    Deadline deadline) {
  if (cell.is_current()) {
    auto saved = save(cell, deadline);
    if (saved) return saved;
    return Error(saved.error().code(),
                 "the change of an earlier call is not stored yet: " + saved.error().message())
        .with_retry_after(saved.error().retry_after());
  }
  // A call that waited during a failed activation shares its error.
  if (cell.failed_activation_count != failed_before) return *cell.activation_error;
  note_size(cell, 0);
  auto activated = cell.activate(deadline);
  if (activated) {
    ++cell.type().counts.activation_count;
    note_size(cell, cell.size_bytes());
    return activated;
  }
  if (cell.has_abandoned_seal()) release_soon(cell);
  // An error of the caller's own deadline says nothing about the object.
  const Code code = activated.error().code();
  if (code != Code::cancelled && code != Code::deadline_exceeded) {
    ++cell.failed_activation_count;
    cell.activation_error = activated.error();
  }
  return activated;
}

Result<void> ObjectHost::stream(Turn& turn, Letter& letter, const rpc::Method& method,
                                const google::protobuf::Message& request, rpc::Context& context,
                                rpc::Messages& sink) {
  StreamOutbox outbox(method, sink);
  if (auto begun = outbox.begin(); !begun) return std::move(begun.error()).with_not_executed();
  auto result = invoke(turn, method, request, context, outbox.pipe(), &outbox.pipe());
  // The messages are on their way, and need the object no more.
  turn.leave();
  letter.leave();
  return outbox.finish(std::move(result), context.deadline());
}

[[gnu::always_inline]] inline Result<void> ObjectHost::invoke(
    Turn& turn, const rpc::Method& method, const google::protobuf::Message& request,
    rpc::Context& context, rpc::Messages& sink, MessagePipe* stream) {
  ObjectCell& cell = turn.cell();
  const rpc::RequestId& request_id = context.object()->request_id;
  const bool is_remembered = remembers(method, request_id);
  if (is_remembered) {
    if (auto replied = reply_again(turn, method, request_id, sink)) return *std::move(replied);
  }
  const rpc::CallScope* const outer = rpc::CallScope::current();
  const ObjectCell::Handler handler(
      cell, context.deadline(), is_remembered ? request_id : ObjectCell::Handler::no_request_id);
  // Deadline and principal of this part of the task; the rest is inherited.
  const rpc::CallScope::Part scope(
      outer, rpc::CallScope::before(context.deadline(), context.arrived_at()), context.principal());
  const CallChain::Frame frame(turn.facts().callers, method.full_name, cell.id(), cell.epoch(),
                               &turn);
  turn.set_frame(&frame);
  Gate gate(*this, turn, cell, method, request_id, sink, stream);
  if (method.durable) turn.begin_durable();
  HostedType::MethodRecord& record = cell.type().record_of(method);
  record.begin(context.arrived_at(), coroutine::Scheduler::current().turn_time());
  auto result = without_exceptions(cell, method.full_name, [&] {
    return record.meter.run([&] { return method.invoke(cell.object(), request, context, gate); });
  });
  turn.set_frame(nullptr);
  if (result && stream != nullptr) result = gate.end_stream();
  record.end(result, context.deadline());
  if (!result) {
    return after_failure(turn, gate, handler, method, context, std::move(result.error()));
  }
  turn.end();
  return result;
}

std::optional<Result<void>> ObjectHost::reply_again(Turn& turn, const rpc::Method& method,
                                                    const rpc::RequestId& request_id,
                                                    rpc::Messages& sink) {
  ObjectCell& cell = turn.cell();
  auto known = cell.ledger(request_id).find(request_id, method.id, cell.wall_clock().now());
  if (!known) return known.error();
  if (*known == nullptr) return std::nullopt;
  const std::unique_ptr<google::protobuf::Message> reply(method.new_reply(nullptr));
  if (!reply->ParseFromString(**known)) return unreadable(method, request_id);
  if (cell.hides_change()) {
    if (auto saved = save_for_reply(cell, method); !saved) return saved;
  }
  auto may = check_may_reply(cell, request_id, /*is_stored=*/false);
  if (!may) return std::move(may.error()).with_maybe_executed();
  turn.end();
  return sink.reply(*reply);
}

Error ObjectHost::after_failure(Turn& turn, Gate& gate, const ObjectCell::Handler& handler,
                                const rpc::Method& method, const rpc::Context& context,
                                Error error) {
  ObjectCell& cell = turn.cell();
  gate.undo();
  error = gate.remember_failure(std::move(error));
  // An error reveals what earlier calls have changed.
  if (method.durable && turn.is_held() && cell.is_writing()) {
    if (auto stored = cell.wait_until_stored(context.deadline()); !stored) {
      error = std::move(stored.error());
    }
  }
  // It needs a proof, too.
  const auto proven =
      !turn.is_held() ? Result<void>() : cell.prove(Deadline::after(options_.save_time_max));
  turn.end();
  if (!proven && moved_of(proven.error())) return gate.moved();
  if (!proven) return Error(proven.error()).with_origin(Origin::runtime).with_maybe_executed();
  error =
      std::move(error).with_origin(coroutine::is_cancelled() ? Origin::runtime : Origin::handler);
  // The flag may come from a nested call whose error the handler returned.
  error = std::move(error).without_not_executed();
  // It leaves only while the object is ours.
  if (turn.was_sent_away() || !cell.is_owned()) return gate.moved();
  // A nested call to an object that has moved does not mean that this object has moved.
  if (moved_of(error)) {
    Error own = Error(error.code(), error.message()).with_origin(Origin::runtime);
    return error.maybe_executed() ? std::move(own).with_maybe_executed() : own;
  }
  if (!handler.is_cancelled() || error.code() != Code::cancelled) return error;
  return Error(Code::deadline_exceeded,
               std::string(method.full_name) + " did not end within its deadline")
      .with_maybe_executed();
}

Error ObjectHost::thrown(const ObjectCell& cell, std::string_view where, const std::string& what) {
  ++cell.type().counts.stray_exception_count;
  Error error(Code::internal, std::string(where) + " threw an exception" + what);
  log_.error("object threw an exception", {{"id", cell.id()}, {"error", error.message()}});
  return std::move(error).with_maybe_executed();
}

Result<void> ObjectHost::save_for_reply(ObjectCell& cell, const rpc::Method& method) {
  auto saved = save(cell, Deadline::after(options_.save_time_max));
  if (saved) return saved;
  // The change may be stored later; until then an unacknowledged change must not be visible.
  cell.hide_change();
  return not_stored(std::move(saved.error()), method);
}

Error ObjectHost::not_stored(Error error, const rpc::Method& method) {
  return std::move(error)
      .with_context(std::string("the change of ") + method.full_name + " is not stored")
      .with_maybe_executed();
}

Result<void> ObjectHost::save(ObjectCell& cell, Deadline deadline) {
  if (!cell.is_changed()) return {};
  auto saved = cell.save(deadline);
  note_size(cell, cell.size_bytes());
  if (!saved) ObjectSaver::failed(cell);
  if (!cell.is_changed()) saver_.forget(cell);
  if (saved && cell.is_destroyed()) {
    ++cell.type().counts.destroyed_count;
    drop_soon(cell);  // Handlers that wait without a turn learn of it.
  }
  return saved;
}

Error ObjectHost::lost_writes(const ObjectCell& cell, std::uint64_t found) {
  ++cell.type().counts.lost_write_count;
  cell.type().note_late_write(cell.id(), cell.next_version());
  log_.error("the store has lost writes that it had confirmed", {{"type", cell.type().name()},
                                                                 {"id", cell.id()},
                                                                 {"epoch", cell.epoch()},
                                                                 {"confirmed", cell.version()},
                                                                 {"found", found}});
  return Error(Code::data_loss, "the store was set back: it had confirmed version " +
                                    std::to_string(cell.version()) + " of " +
                                    std::string(cell.type().name()) + " " + quote(cell.id()) +
                                    ", and has version " + std::to_string(found) + " now");
}

Result<void> ObjectHost::save_now(ObjectCell& cell) {
  auto saved = save(cell, Deadline::after(options_.save_time_max));
  if (!saved) return std::move(saved.error()).with_origin(Origin::runtime);
  return saved;
}

void ObjectHost::mark_unmarked_change(ObjectCell& cell, std::string_view where) {
  if (!cell.has_unmarked_change()) return;
  const std::string what = std::string(where) +
                           " changed its state through a reference that it kept over a write: "
                           "call change() again after save() and after waiting";
#ifndef NDEBUG
  check(false, what);
#endif
  log_.error("object changed through an old reference", {{"id", cell.id()}, {"error", what}});
  cell.mark_changed();
}

void ObjectHost::end_last_visit(ObjectCell& cell) {
  if (cell.is_active() || cell.quiet_visitor_count > 0) {
    cell.used_at = coroutine::Scheduler::current().turn_time();
    auto& by_use = cell.type().by_use;
    by_use.splice(by_use.end(), by_use, cell.place);
    if (cell.take_wish_to_leave()) deactivate_soon(cell);
    return;
  }
  saver_.forget(cell);
  cell.type().by_use.erase(cell.place);
  note_size(cell, 0);
  // drop() notes how far a lost object has published. Without visitors it does not suspend.
  if (cell.has_stale_object()) cell.drop();
  cell.type().remove(cell);
}

void ObjectHost::end_quiet_visit(ObjectCell& cell) {
  if (--cell.quiet_visitor_count > 0 || cell.visitor_count > 0 || cell.is_active()) return;
  // The end of this visit removes the cell.
  const Visit last(*this, cell);
}

void ObjectHost::note_size(ObjectCell& cell, std::size_t bytes) {
  constexpr std::size_t counted_max = std::numeric_limits<std::uint32_t>::max();
  const auto counted = static_cast<std::uint32_t>(std::min(bytes, counted_max));
  const std::size_t more = counted - std::size_t{std::exchange(cell.counted_bytes, counted)};
  memory_bytes_ += more;
  cell.type().counts.memory_bytes += more;
}

std::vector<ObjectCell*> ObjectHost::cells() const {
  std::vector<ObjectCell*> all;
  for (const auto& type : types_) all.insert(all.end(), type->by_use.begin(), type->by_use.end());
  return all;
}

ObjectStatistics ObjectHost::statistics() const {
  ObjectStatistics all;
  for (const auto& type : types_) all.add(type->statistics());
  return all;
}

HostedType* ObjectHost::find_type(std::string_view name) const {
  const auto found = std::ranges::find(types_, name, [](const auto& type) { return type->name(); });
  return found == types_.end() ? nullptr : found->get();
}

}  // namespace corolane::framework::detail
