#include "rpc/client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/event.h"
#include "coroutine/task.h"
#include "coroutine/wait_queue.h"
#include "rpc/detail/connection.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;

// What goes over the wire is the time left, so that clocks need not agree.
std::uint32_t microseconds_left(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline.remaining());
  return static_cast<std::uint32_t>(std::clamp(left, 1us, time_left_max).count());
}

// A call that waits for its reply; lives on the stack of the calling task.
struct PendingCall {
  PendingCall(const char* method, google::protobuf::Message& reply_message)
      : reply(reply_message), done(method) {}

  google::protobuf::Message& reply;
  std::optional<Error> error;
  coroutine::WaitQueue done;
};

// The pending calls by id. An id names a slot and how often that was used before, so that a late
// reply finds nobody rather than somebody else.
class PendingTable {
 public:
  std::uint64_t add(PendingCall& call) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].call = &call;
    return std::uint64_t{slots_[index].generation} << 32 | index;
  }

  // Null when that call has ended.
  PendingCall* take(std::uint64_t id) {
    if (!is_pending(id)) return nullptr;
    const auto index = static_cast<std::uint32_t>(id);
    Slot& slot = slots_[index];
    ++slot.generation;
    free_.push_back(index);
    return std::exchange(slot.call, nullptr);
  }

  std::size_t count() const { return slots_.size() - free_.size(); }
  bool is_pending(std::uint64_t id) const {
    const auto index = static_cast<std::uint32_t>(id);
    return index < slots_.size() && slots_[index].call != nullptr &&
           slots_[index].generation == id >> 32;
  }

  void end_all(const Error& reason) {
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
      PendingCall* const call = take(std::uint64_t{slots_[index].generation} << 32 | index);
      if (call == nullptr) continue;
      call->error = Error(reason).with_maybe_executed();
      call->done.notify_one();
    }
  }

 private:
  struct Slot {
    PendingCall* call = nullptr;
    std::uint32_t generation = 0;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace

class Client::Impl final : public detail::Connection {
 public:
  Impl(std::unique_ptr<net::Stream> stream, const Options& options)
      : Connection(std::move(stream), options.reply_bytes_max),
        options_(options),
        peer_(to_string(this->stream().peer_endpoint())) {}
  ~Impl() {
    end(Error(Code::unavailable, "the client was closed"));
    check(task_count_ == 0, "no task is inside a call when its client is destroyed");
  }

  Result<void> wait_for_hello(Deadline deadline) {
    if (auto ready = ready_.wait(deadline); !ready) {
      return std::move(ready.error()).with_context(peer_ + " says no hello");
    }
    if (lost_) return *lost_;
    return {};
  }

  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, CallOptions options);

  void end(const Error& reason) {
    if (lost_) return;
    lost_ = reason;
    close();
    pending_.end_all(reason);
    ready_.set();
  }

  bool is_connected() const { return is_open(); }

 private:
  void on_hello() override { ready_.set(); }

  Result<void> on_frame(const Frame& frame) override {
    if (frame.header.type != FrameType::reply) {
      return Error(Code::invalid_argument, "a server sends replies only");
    }
    PendingCall* const call = pending_.take(frame.header.call_id);
    if (call == nullptr) return {};  // Given up before the reply came.
    if (frame.header.code != 0) {
      Error error(code_from_number(frame.header.code), std::string(text_of(frame)));
      if (frame.header.maybe_executed) error = std::move(error).with_maybe_executed();
      call->error = std::move(error).with_retry_after(std::chrono::milliseconds(frame.header.time));
    } else if (!call->reply.ParseFromArray(frame.message.data(),
                                           static_cast<int>(frame.message.size()))) {
      call->error = Error(Code::internal, "the reply is no " + call->reply.GetTypeName())
                        .with_maybe_executed();
    }
    call->done.notify_one();
    return {};
  }

  void on_lost(const Error& reason) override {
    const Error lost(Code::unavailable,
                     "lost the connection to " + peer_ + ": " + reason.message());
    // What the peer said in its bye, or broke of the protocol, keeps its code for all calls that
    // are pending and for later ones.
    end(reason.code() == Code::unavailable ? lost : Error(reason.code(), lost.message()));
  }

  Options options_;
  std::string peer_;
  PendingTable pending_;
  std::size_t task_count_ = 0;  // Tasks inside call().
  std::optional<Error> lost_;
  coroutine::Event ready_{"rpc hello"};
};

Result<void> Client::Impl::call(const Method& method, const google::protobuf::Message& request,
                                google::protobuf::Message& reply, CallOptions options) {
  if (lost_) return *lost_;
  // It broke, and the turn of the loop that tells so has not come yet.
  if (stream().is_closed()) return Error(Code::unavailable, "lost the connection to " + peer_);
  if (pending_.count() >= options_.pending_count_max) {
    return Error(Code::resource_exhausted,
                 std::to_string(pending_.count()) + " calls to " + peer_ + " are pending already");
  }
  const Deadline deadline =
      options.deadline.is_never() ? Deadline::after(method.timeout) : options.deadline;
  if (deadline.has_passed()) {
    return Error(Code::deadline_exceeded,
                 std::string("the deadline passed before the call of ") + method.full_name);
  }
  if (coroutine::is_cancelled()) {
    return Error(Code::cancelled, std::string("cancelled before the call of ") + method.full_name);
  }

  PendingCall pending(method.full_name, reply);
  const std::uint64_t id = pending_.add(pending);
  ++task_count_;
  const auto sent = send({.type = FrameType::request,
                          .call_id = id,
                          .method_id = method.id,
                          .time = microseconds_left(deadline)},
                         request, deadline);
  // Nothing was sent of what fits no frame; what broke while sending waited may have arrived.
  const bool too_large = !sent && sent.error().code() == Code::resource_exhausted;
  const bool broke = !sent && sent.error().code() == Code::unavailable;
  coroutine::Wake wake = coroutine::Wake::notified;
  // A reply or the end of the connection may have come while sending waited.
  if (pending_.is_pending(id) && !too_large && !broke) wake = pending.done.wait(deadline);
  --task_count_;
  if (pending_.take(id) == nullptr) {
    if (pending.error) return std::move(*pending.error);
    return {};
  }
  if (too_large) return sent.error();
  if (broke) return Error(sent.error()).with_maybe_executed();
  // Appended even when there is no room: it is small, and nobody waits for it.
  static_cast<void>(send_text({.type = FrameType::cancel, .call_id = id}, "", Deadline::passed()));
  if (wake == coroutine::Wake::deadline) {
    return Error(Code::deadline_exceeded, std::string("no reply of ") + method.full_name +
                                              " from " + peer_ + " within the deadline")
        .with_maybe_executed();
  }
  return Error(Code::cancelled, std::string("cancelled while waiting for ") + method.full_name)
      .with_maybe_executed();
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(net::Network& network, const net::HostPort& peer,
                                                Deadline deadline) {
  return connect(network, peer, deadline, Options{});
}

Result<std::unique_ptr<Client>> Client::connect(net::Network& network, const net::HostPort& peer,
                                                Deadline deadline, Options options) {
  auto stream = net::connect_to(network, peer, deadline);
  if (!stream) return stream.error();
  auto impl = std::make_unique<Impl>(std::move(*stream), options);
  impl->start();
  if (auto ready = impl->wait_for_hello(deadline); !ready) return ready.error();
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Result<void> Client::call(const Method& method, const google::protobuf::Message& request,
                          google::protobuf::Message& reply, CallOptions options) {
  return impl_->call(method, request, reply, options);
}

bool Client::is_connected() const { return impl_->is_connected(); }

void Client::close() { impl_->end(Error(Code::unavailable, "the client was closed")); }

}  // namespace corolane::rpc
