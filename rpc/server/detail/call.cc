// SPDX-License-Identifier: MIT
#include "rpc/server/detail/call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coroutine/might_suspend.h"
#include "coroutine/scheduler.h"
#include "rpc/call_scope.h"
#include "rpc/observe/call_outcome.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc::detail {
namespace {

// Messages up to this size on the wire are kept for the next call of their method: their strings
// keep their capacity.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_requests = false;  // ASan finds reads after the end of a call.
#else
constexpr bool keeps_requests = true;
#endif
constexpr std::size_t kept_request_bytes_max = 512;

}  // namespace

Call::Call(Owner& owner)
    : Timer([](Timer& timer) { static_cast<Call&>(timer).on_deadline(); }), owner_(owner) {}

std::string_view Call::object_id() const {
  const ObjectTarget* const object = context_ == nullptr ? nullptr : context_->object();
  return object == nullptr ? std::string_view() : object->id;
}

Result<void> Call::take(ServedMethod& served, std::size_t payload_bytes, ReadRequest read,
                        net::ByteBudget& budget) {
  served_ = &served;
  inbox_budget_ = &budget;
  payload_bytes_ = payload_bytes;
  if (new_request_ != served.method->new_request) make_messages(*served.method);
  const auto has_extension = read(*request_, *extension_);
  if (!has_extension) return has_extension.error();
  has_extension_ = *has_extension;
  taken_bytes_ = memory_.counted_bytes(payload_bytes_);
  if (taken_bytes_ == 0) return {};
  if (!budget.take(taken_bytes_)) {
    return Error(Code::resource_exhausted, "the server has no room for more requests of this size")
        .with_origin(Origin::runtime);
  }
  budget_ = &budget;
  return {};
}

void Call::make_messages(const Method& method) {
  memory_.reset();
  new_request_ = method.new_request;
  request_ = method.new_request(&memory_.arena());
  extension_ = google::protobuf::Arena::CreateMessage<RequestExtension>(&memory_.arena());
}

void Call::accept(Caller& caller, std::uint64_t id, Deadline deadline, TimePoint arrived_at) {
  caller_ = &caller;
  id_ = id;
  deadline_ = deadline;
  arrived_at_ = arrived_at;
  room_bytes_ = caller.stream_window_bytes();
  coroutine::Scheduler::current().timers().arm(*this, deadline);
}

bool Call::will_begin(TimePoint now) {
  expired_ = expired_ || deadline_.time() <= now;
  begun_ = !expired_ && !coroutine::is_cancelled();
  return begun_;
}

void Call::run(const Around& around, TimePoint now) {
  Context::Facts facts{.deadline = deadline_,
                       .door = caller_->door(),
                       .may_take_last_stacks = caller_->shares.is_newcomer(),
                       .peer = caller_->peer(),
                       .peer_identity = caller_->peer_identity(),
                       .principal = &caller_->principal(),
                       .session = &caller_->session(),
                       .arrived_at = arrived_at_,
                       .begun_at = now};
  if (has_extension_) {
    // An empty trace that was just written is slow to copy.
    if (has_trace(*extension_)) facts.trace = trace_of(*extension_);
    if (facts.door == Door::nodes && extension_->has_principal()) {
      forwarded_for_ = principal_of(*extension_);
      facts.principal = &forwarded_for_;
    }
    ReceivedTarget target(*extension_, facts.door);
    if (facts.door == Door::clients && target.has_request_id()) {
      target.set_scope(caller_->request_scope());
    }
    facts.object = target.get();
    if (extension_->headers_size() > 0) {
      read_headers(*extension_, headers_);
      facts.headers = &headers_;
    }
    serve(around, facts);
  } else {
    serve(around, facts);
  }
  // Up to here the deadline and the loss of the connection also end the wait for room.
  Timer::cancel();
  task_ = {};
}

void Call::serve(const Around& around, const Context::Facts& facts) {
  if (!begun_) {
    answer(Error(Code::cancelled, "not begun"));
    return;
  }
  CallScope& scope = CallScope::enter({.deadline = CallScope::before(deadline_, facts.begun_at),
                                       .trace = facts.trace,
                                       .may_take_last_stacks = facts.may_take_last_stacks});
  const CallScope::Handler handler(scope, *facts.principal);
  if (auto logged_in = caller_->log_in(); !logged_in) {
    begun_ = false;
    answer(std::move(logged_in.error()).with_not_executed());
    return;
  }
  Context context(*served_->method, *request_, facts);
  context_ = &context;
  const bool has_sent = answer(served_->meter.run(
      [&] { return serve_call(around, *served_, *request_, context, *this, threw_); }));
  context_ = nullptr;
  if (!has_sent) ended_at_ = context.returned_at_or_epoch();
}

void Call::reset() {
  Timer::cancel();
  const bool they_stay =
      keeps_requests && payload_bytes_ <= kept_request_bytes_max && memory_.is_in_block();
  if (!they_stay) {
    memory_.reset();
    new_request_ = nullptr;
  }
  give_back_memory();
  served_ = nullptr;
  caller_ = nullptr;
  task_ = {};
  place.reset();
  ended_at_ = {};
  code_.reset();
  cancelled_ = expired_ = begun_ = threw_ = sent_headers_ = items_ended_ = false;
  is_fault_of_server_ = false;
  items_failed_.reset();
  inbox_.clear();
  if (!headers_.empty()) headers_ = {};
}

void Call::refuse(const Error& error) {
  note_end(error);
  if (is_awaited()) caller_->refuse(id_, error);
}

void Call::give_back_memory() {
  if (budget_ != nullptr) std::exchange(budget_, nullptr)->give_back(taken_bytes_);
  if (inbox_bytes_ > 0) inbox_budget_->give_back(std::exchange(inbox_bytes_, 0));
}

void Call::on_deadline() {
  expired_ = true;
  if (task_) return task_.cancel();
  refuse(why_ended(Error(Code::cancelled, "")));
  owner_.gave_up(*this);
}

void Call::cancel() {
  cancelled_ = true;
  if (task_) return task_.cancel();
  code_ = Code::cancelled;
  owner_.gave_up(*this);
}

void Call::stop() {
  if (task_) return task_.cancel();
  refuse(why_ended(Error(Code::cancelled, "")));
  owner_.gave_up(*this);
}

Result<void> Call::take_item(const Frame& frame) {
  if (!served_->method->client_streaming || items_ended_) {
    return Error(Code::invalid_argument,
                 std::string(served_->method->full_name) + " takes no item now");
  }
  if (inbox_.is_overfull()) {
    return Error(Code::resource_exhausted, "the stream to " +
                                               std::string(served_->method->full_name) +
                                               " exceeds the window of its reader");
  }
  if (frame.is_too_large) {
    items_failed_ = Error(Code::resource_exhausted, "a message of the stream has " +
                                                        std::to_string(frame.header.payload_size) +
                                                        " bytes, which is above the limit");
  } else if (!items_failed_ && !inbox_budget_->take(frame.message.size())) {
    items_failed_ = Error(Code::resource_exhausted, "the server has no room for more of the stream")
                        .with_origin(Origin::runtime);
  } else if (!items_failed_) {
    inbox_bytes_ += frame.message.size();
    inbox_.put(frame.message);
  }
  readable_.pulse();
  return {};
}

void Call::end_items() {
  items_ended_ = true;
  readable_.pulse();
}

Result<bool> Call::read(google::protobuf::Message& message) {
  if (!served_->method->client_streaming) return Messages::read(message);
  coroutine::might_suspend(deadline_);
  for (;;) {
    if (cancelled_ || coroutine::is_cancelled()) {
      return Error(Code::cancelled, "the caller of " + std::string(served_->method->full_name) +
                                        " sends nothing any more");
    }
    if (!inbox_.empty()) break;
    if (items_failed_) return *items_failed_;
    if (items_ended_) return false;
    // A wait that fails is a cancelled task, or the deadline.
    if (auto waited = readable_.wait(deadline_); !waited) return std::move(waited.error());
  }
  auto parsed = inbox_.take([&](std::span<const std::byte> item) {
    // Those of a body over HTTP are counted with their request.
    const std::size_t counted = std::min(item.size(), inbox_bytes_);
    inbox_budget_->give_back(counted);
    inbox_bytes_ -= counted;
    return caller_->parse_item(item, message);
  });
  if (const auto room = inbox_.take_grant(); room && !items_ended_) caller_->grant(id_, *room);
  if (parsed) return true;
  items_failed_ = parsed.error();
  inbox_.clear();
  return *items_failed_;
}

void Call::give_room(std::uint32_t bytes) {
  // More than a window is a caller's error, or an attack that harms only itself.
  room_bytes_ = std::min(room_bytes_ + std::int64_t{bytes}, caller_->stream_window_bytes());
  if (room_bytes_ > 0) room_.pulse();
}

Result<void> Call::reply(google::protobuf::Message& message) {
  if (!is_awaited()) return {};
  const auto beside = this->beside(/*is_last=*/true);
  if (!beside) return beside.error();
  auto sent = caller_->send_reply(id_, message, *beside, deadline_);
  const bool is_unsendable = !sent && (sent.error().code() == Code::resource_exhausted ||
                                       sent.error().code() == Code::internal);
  // Other errors mean that the caller is gone or takes nothing: it does not wait for this reply.
  if (!is_unsendable) return {};
  return std::move(sent.error())
      .with_context(std::string("the reply of ") + served_->method->full_name)
      .with_maybe_executed()
      .with_origin(Origin::runtime);
}

Result<void> Call::write(const google::protobuf::Message& message) {
  if (auto waited = wait_for_room(); !waited) return waited;
  const auto before = static_cast<std::int64_t>(message.ByteSizeLong() + frame_header_size);
  const auto beside = this->beside(/*is_last=*/false);
  if (!beside) return beside.error();
  auto sent = caller_->send_item(id_, message, *beside, deadline_);
  if (sent) room_bytes_ -= before;
  return sent;
}

Result<void> Call::wait_for_room() {
  const auto gone = [this] {
    return Error(Code::cancelled, "the stream of " + std::string(served_->method->full_name) +
                                      " has no reader any more");
  };
  coroutine::might_suspend(deadline_);
  if (cancelled_ || coroutine::is_cancelled()) return gone();
  while (room_bytes_ <= 0) {
    if (!room_.wait(deadline_)) return gone();
  }
  return {};
}

Error Call::why_ended(const Error& error) const {
  const bool was_ended = expired_ || !task_ || coroutine::is_cancelled();
  if (error.code() != Code::cancelled || !was_ended) return error;
  const std::string method = served_->method->full_name;
  Error reason = expired_
                     ? Error(Code::deadline_exceeded, method + " did not end within its deadline")
                     : Error(Code::unavailable, method + " was cancelled: the server is stopping");
  return begun_ ? std::move(reason).with_maybe_executed() : std::move(reason).with_not_executed();
}

bool Call::answer(const Result<void>& result) {
  if (!result) {
    // Callers cancel when they give up, mostly because the deadline has passed.
    expired_ = expired_ || (cancelled_ && deadline_.has_passed());
    const Error error = cancelled_ && !expired_ ? result.error() : why_ended(result.error());
    note_end(error);
    const auto beside = this->beside(/*is_last=*/true).value_or(Caller::Beside{});
    if (is_awaited()) caller_->send_error(id_, error, beside, deadline_);
  } else if (is_awaited() && (served_->method->server_streaming || is_one_way())) {
    const auto beside = this->beside(/*is_last=*/true);
    if (!beside) return answer(beside.error());
    caller_->send_end(id_, *beside, deadline_);
  } else {
    return false;
  }
  return true;
}

void Call::note_end(const Error& error) {
  code_ = error.code();
  is_fault_of_server_ = rpc::is_fault_of_server(error);
}

Result<Caller::Beside> Call::beside(bool is_last) {
  if (context_ == nullptr || context_->reply_headers_or_null() == nullptr) return Caller::Beside{};
  ReplyHeaders& all = context_->made_reply_headers();
  auto headers = sent_headers_ ? Result<void>() : all.headers.check();
  if (headers && is_last) headers = all.trailers.check();
  if (!headers) {
    all = {};
    return Error(Code::internal, "the reply of " + std::string(served_->method->full_name) +
                                     " has " + headers.error().message())
        .with_maybe_executed();
  }
  const Caller::Beside beside{.headers = sent_headers_ ? nullptr : &all.headers,
                              .trailers = is_last ? &all.trailers : nullptr};
  sent_headers_ = true;
  return beside;
}

Call& CallPool::take() {
  if (idle_.empty()) return *new Call(owner_);
  Call& call = *idle_.back().release();
  idle_.pop_back();
  return call;
}

void CallPool::give_back(Call& call) {
  std::unique_ptr<Call> owned(&call);
  if (idle_.size() == idle_count_max) return;
  call.reset();
  idle_.push_back(std::move(owned));
}

}  // namespace corolane::rpc::detail
