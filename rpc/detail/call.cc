#include "rpc/detail/call.h"

#include <exception>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"
#include "rpc/detail/server_connection.h"

namespace corolane::rpc::detail {
namespace {

google::protobuf::ArenaOptions arena_options(std::span<char> block) {
  google::protobuf::ArenaOptions options;
  options.initial_block = block.data();
  options.initial_block_size = block.size();
  return options;
}

}  // namespace

Call::Call()
    : Timer([](Timer& timer) {
        Call& call = static_cast<Call&>(timer);
        call.expired_ = true;
        call.task_.cancel();
      }),
      arena_(arena_options(arena_block_)) {}

bool Call::parse(ServedMethod& served, std::span<const std::byte> bytes) {
  served_ = &served;
  request_ = served.method->new_request(arena_);
  return request_->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void Call::begin(ServerConnection& from, std::uint64_t id, Deadline deadline) {
  connection_ = &from;
  id_ = id;
  begun_at_ = now();
  context_.emplace(deadline, served_->method->full_name);
}

void Call::bind(coroutine::TaskRef task) {
  task_ = task;
  coroutine::Scheduler::current().timers().arm(*this, context_->deadline());
}

void Call::run() {
  // Its caller may have given up while the task waited for its turn, or the time have passed.
  expired_ = expired_ || context_->deadline().has_passed();
  begun_ = !expired_ && !coroutine::is_cancelled();
  const Result<void> result = begun_ ? invoke() : Error(Code::cancelled, "not begun");
  failed_ = !result;
  if (!result && !cancelled_) reply_error(why_ended(result.error()));
  // Until here the deadline, and the loss of the connection, end the wait for room as well.
  Timer::cancel();
  task_ = {};
}

void Call::reset() {
  Timer::cancel();
  arena_.Reset();
  served_ = nullptr;
  request_ = nullptr;
  connection_ = nullptr;
  context_.reset();
  task_ = {};
  cancelled_ = expired_ = begun_ = failed_ = threw_ = false;
}

void Call::cancel() {
  cancelled_ = true;
  if (task_) task_.cancel();
}

Result<void> Call::reply(const google::protobuf::Message& message) {
  if (cancelled_) return {};
  auto sent =
      connection_->send({.type = FrameType::reply, .call_id = id_}, message, context_->deadline());
  if (!sent && sent.error().code() == Code::resource_exhausted) {
    return std::move(sent.error())
        .with_context(std::string("the reply of ") + served_->method->full_name)
        .with_maybe_executed();
  }
  // Its other errors mean that the caller is gone or takes nothing: nobody waits for this reply.
  return {};
}

Error Call::why_ended(const Error& error) const {
  if (error.code() != Code::cancelled || !(expired_ || coroutine::is_cancelled())) return error;
  const std::string method(context_->method());
  Error reason = expired_
                     ? Error(Code::deadline_exceeded, method + " did not end within its deadline")
                     : Error(Code::unavailable, method + " was cancelled: the server stops");
  return begun_ ? std::move(reason).with_maybe_executed() : reason;
}

void Call::reply_error(const Error& error) {
  // As above: its own errors mean that nobody waits for it.
  static_cast<void>(connection_->reply_error(id_, error, context_->deadline()));
}

Result<void> Call::invoke() {
  try {
    return served_->method->invoke(*served_->service, *request_, *context_, *this);
  } catch (const std::exception& exception) {
    threw_ = true;
    return Error(Code::internal, std::string(served_->method->full_name) +
                                     " threw an exception: " + exception.what())
        .with_maybe_executed();
  } catch (...) {
    threw_ = true;
    return Error(Code::internal, std::string(served_->method->full_name) + " threw an exception")
        .with_maybe_executed();
  }
}

Call& CallPool::take() {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Call>());
    idle_.push_back(all_.back().get());
  }
  Call& call = *idle_.back();
  idle_.pop_back();
  return call;
}

void CallPool::give_back(Call& call) {
  call.reset();
  idle_.push_back(&call);
}

}  // namespace corolane::rpc::detail
