#include "rpc/detail/server_connection.h"

#include <algorithm>
#include <limits>
#include <string>

#include "coroutine/scheduler.h"
#include "rpc/detail/call.h"

namespace corolane::rpc::detail {
namespace {

// As many milliseconds as the wire holds.
std::uint32_t retry_milliseconds(const Error& error) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      error.retry_after().count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

FrameHeader error_header(std::uint64_t call_id, const Error& error) {
  return {.type = FrameType::reply,
          .code = static_cast<std::uint8_t>(error.code()),
          .maybe_executed = error.maybe_executed(),
          .call_id = call_id,
          .time = retry_milliseconds(error)};
}

}  // namespace

ServerConnection::ServerConnection(Host& host, std::uint64_t id,
                                   std::unique_ptr<net::Stream> stream,
                                   std::size_t request_bytes_max, Deadline hello_deadline)
    : Connection(std::move(stream), request_bytes_max), host_(host), id_(id) {
  coroutine::Scheduler::current().timers().arm(hello_timer_, hello_deadline);
}

void ServerConnection::add(Call& call) {
  call.index = calls_.size();
  calls_.push_back(&call);
}

void ServerConnection::remove(Call& call) {
  Call& last = *calls_.back();
  last.index = call.index;
  calls_[call.index] = &last;
  calls_.pop_back();
  // A handler may still be inside a write when its connection closes.
  if (closed_ && calls_.empty()) host_.ended(*this);
}

Result<void> ServerConnection::reply_error(std::uint64_t call_id, const Error& error,
                                           Deadline deadline) {
  return send_text(error_header(call_id, error), error.message(), deadline);
}

void ServerConnection::refuse(std::uint64_t call_id, const Error& error) {
  send_text(error_header(call_id, error), error.message());
}

Result<void> ServerConnection::on_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::request:
      host_.serve(*this, frame);
      return {};
    case FrameType::cancel:
      for (Call* const call : calls_) {
        if (call->id() == frame.header.call_id) call->cancel();
      }
      return {};
    default:
      return Error(Code::invalid_argument, "a client sends requests and cancels only");
  }
}

void ServerConnection::on_lost(const Error&) {
  hello_timer_.cancel();
  for (Call* const call : calls_) call->cancel();
}

void ServerConnection::on_closed() {
  closed_ = true;
  if (calls_.empty()) host_.ended(*this);
}

void ServerConnection::HelloTimer::fire(Timer& timer) {
  static_cast<HelloTimer&>(timer).connection.say_bye(
      Error(Code::deadline_exceeded, "no hello came in time"));
}

}  // namespace corolane::rpc::detail
