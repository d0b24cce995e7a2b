// SPDX-License-Identifier: MIT
#include "framework/recording/detail/outside.h"

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "framework/recording/detail/inbox_store.h"
#include "framework/recording/detail/messages.h"

namespace corolane::framework::recording {
namespace {

using namespace std::chrono_literals;

// How far a stream reads ahead of the node.
constexpr std::size_t ahead_bytes_max = 256 * 1024;
// The pause after a failed accept, mostly for lack of descriptors.
constexpr Duration accept_pause = 100ms;
// The time for sending the remaining output of a closed stream.
constexpr Duration last_output_time_max = 500ms;

net::StreamOptions options_of(const StreamSettings& settings) {
  net::StreamOptions options;
  options.output_bytes_max = settings.output_bytes_max();
  options.output_stall_max = std::chrono::milliseconds(settings.output_stall_max_milliseconds());
  options.keepalive_idle = std::chrono::seconds(settings.keepalive_idle_seconds());
  options.keepalive_interval = std::chrono::seconds(settings.keepalive_interval_seconds());
  options.keepalive_count = settings.keepalive_count();
  return options;
}

}  // namespace

// A stream, and the task that writes the node's output to it.
class Outside::Conversation final : public net::ReadSink {
 public:
  Conversation(std::uint64_t id, std::unique_ptr<net::Stream> stream, const Tell& tell)
      : id_(id), stream_(std::move(stream)), tell_(tell) {}

  const net::Stream& stream() const { return *stream_; }

  void read() { stream_->set_read_sink(*this); }

  void taken(std::size_t size) {
    ahead_bytes_ -= size;
    if (!is_paused_ || ahead_bytes_ > ahead_bytes_max / 2) return;
    is_paused_ = false;
    stream_->resume_reading();
  }

  void write(const std::string& bytes) {
    output_ += bytes;
    changed_.pulse();
  }

  void finish() {
    is_to_finish_ = true;
    changed_.pulse();
  }

  // Output of earlier turns is sent first: a stream without an inbox would have sent it by now.
  void close() {
    is_to_close_ = true;
    changed_.pulse();
  }
  // Called when the stream has no task.
  void refuse(const Error& reason) {
    stream_->close();
    tell_end(reason);
  }

  // Serves the stream until it is closed. Suspends.
  void serve() {
    while (!coroutine::is_cancelled()) {
      if (!output_.empty()) {
        write_output();
      } else if (is_to_finish_) {
        is_to_finish_ = false;
        stream_->finish_writing();
      } else if (is_to_close_) {
        break;
      } else {
        static_cast<void>(changed_.wait(Deadline::never()));
      }
    }
    static_cast<void>(stream_->flush(Deadline::after(last_output_time_max)));
    stream_->close();
  }

  void on_bytes(std::span<const std::byte> bytes) override {
    if (is_to_close_) return;
    Arrival arrival;
    arrival.mutable_bytes()->set_stream(id_);
    arrival.mutable_bytes()->set_bytes(bytes.data(), bytes.size());
    tell_(std::move(arrival));
    ahead_bytes_ += bytes.size();
    if (ahead_bytes_ <= ahead_bytes_max) return;
    is_paused_ = true;
    stream_->pause_reading();
  }

  void on_end(const Error& reason) override {
    if (!is_to_close_) tell_end(reason);
  }

 private:
  void write_output() {
    const std::string bytes = std::exchange(output_, {});
    auto written = stream_->write_all(net::bytes_of(bytes), Deadline::after(last_output_time_max));
    while (!written && written.error().code() == Code::deadline_exceeded && !is_to_close_) {
      written = stream_->write_all({}, Deadline::after(last_output_time_max));
    }
    Arrival arrival;
    if (written) {
      arrival.mutable_written()->set_stream(id_);
      arrival.mutable_written()->set_size(bytes.size());
    } else {
      // Input that the peer has sent before can still be read.
      arrival.mutable_write_failed()->set_stream(id_);
      *arrival.mutable_write_failed()->mutable_failure() = to_message(written.error());
    }
    tell_(std::move(arrival));
  }

  void tell_end(const Error& reason) const {
    Arrival arrival;
    Ended& ended = *arrival.mutable_ended();
    ended.set_stream(id_);
    *ended.mutable_failure() = to_message(reason);
    ended.set_is_broken(stream_->is_closed());
    tell_(std::move(arrival));
  }

  const std::uint64_t id_;
  const std::unique_ptr<net::Stream> stream_;
  const Tell& tell_;
  std::string output_;
  std::size_t ahead_bytes_ = 0;  // Read, but not taken by the node yet.
  bool is_paused_ = false;
  bool is_to_finish_ = false;
  bool is_to_close_ = false;
  coroutine::Event changed_{"what a recorded node writes"};
};

Outside::Outside(net::Network& network, OpenStore open_store, Tell tell)
    : scheduler_(coroutine::Scheduler::current()),
      network_(network),
      open_store_(std::move(open_store)),
      tell_(std::move(tell)) {}

Outside::~Outside() {
  for (const auto& [id, listener] : std::exchange(listeners_, {})) listener->close();
  for (const auto& [id, conversation] : conversations_) conversation->close();
  for (const auto& [id, call] : calls_) call.cancel();
  static_cast<void>(tasks_.join(Deadline::after(last_output_time_max)));
  tasks_.cancel_and_join();
}

void Outside::post(std::vector<Ask> asks) {
  scheduler_.post([this, asks = std::move(asks)] {
    for (const Ask& ask : asks) handle(ask);
  });
}

Listening Outside::listen(const Ask& ask) {
  std::promise<Listening> promise;
  auto listening = promise.get_future();
  scheduler_.post([&] { promise.set_value(begin_to_listen(ask.listen())); });
  return listening.get();
}

// Requests for a stream, listener or call that is already gone are ignored: the node did not know
// yet.
void Outside::handle(const Ask& ask) {
  const auto with = [this](std::uint64_t stream, const auto& work) {
    const auto found = conversations_.find(stream);
    if (found != conversations_.end()) work(*found->second);
  };
  switch (ask.what_case()) {
    case Ask::kConnect:
      return answer(ask.call(), [this, ask] { return connect(ask.connect(), ask.call()); });
    case Ask::kResolve:
      return answer(ask.call(), [this, ask] { return resolve(ask.resolve()); });
    case Ask::kStore:
      return answer(ask.call(), [this, ask] { return store(ask.store()); });
    case Ask::kGiveUp:
      if (const auto found = calls_.find(ask.give_up()); found != calls_.end()) {
        found->second.cancel();
      }
      // It may have connected just before this.
      return close(ask.give_up());
    case Ask::kStopListening:
      if (const auto found = listeners_.find(ask.stop_listening()); found != listeners_.end()) {
        found->second->close();
        listeners_.erase(found);
      }
      return;
    case Ask::kRead:
      return with(ask.read(), [](Conversation& it) { it.read(); });
    case Ask::kTaken:
      return with(ask.taken().stream(), [&](Conversation& it) { it.taken(ask.taken().size()); });
    case Ask::kWrite:
      return with(ask.write().stream(), [&](Conversation& it) { it.write(ask.write().bytes()); });
    case Ask::kFinish:
      return with(ask.finish(), [](Conversation& it) { it.finish(); });
    case Ask::kClose:
      return close(ask.close());
    case Ask::kListen:
    case Ask::WHAT_NOT_SET:
      return;
  }
}

Listening Outside::begin_to_listen(const Listen& ask) {
  Listening listening;
  auto made = network_.listen(to_endpoint(ask.local()), {.backlog = ask.backlog(),
                                                         .stream = options_of(ask.stream()),
                                                         .shares_port = ask.shares_port()});
  if (!made) {
    *listening.mutable_failure() = to_message(made.error());
    return listening;
  }
  const std::shared_ptr<net::Listener> listener = *std::move(made);
  auto spawned = tasks_.spawn("accept for a recorded node",
                              [this, listener, id = ask.listener()] { accept(id, *listener); });
  if (!spawned) {
    *listening.mutable_failure() = to_message(spawned.error());
    return listening;
  }
  listeners_.emplace(ask.listener(), listener);
  *listening.mutable_local() = to_message(listener->local_endpoint());
  return listening;
}

void Outside::accept(std::uint64_t id, net::Listener& listener) {
  for (;;) {
    auto accepted = listener.accept(Deadline::never());
    if (accepted) {
      Arrival arrival;
      *arrival.mutable_accepted() = begin(*std::move(accepted), last_id_ += 2);
      arrival.mutable_accepted()->set_listener(id);
      tell_(std::move(arrival));
      continue;
    }
    if (!listeners_.contains(id) || coroutine::is_cancelled()) return;
    Arrival arrival;
    arrival.mutable_accept_failed()->set_listener(id);
    *arrival.mutable_accept_failed()->mutable_failure() = to_message(accepted.error());
    tell_(std::move(arrival));
    if (!coroutine::sleep_for(accept_pause)) return;
  }
}

Connected Outside::begin(std::unique_ptr<net::Stream> stream, std::uint64_t id) {
  Connected connected;
  connected.set_stream(id);
  *connected.mutable_local() = to_message(stream->local_endpoint());
  *connected.mutable_peer() = to_message(stream->peer_endpoint());
  const auto conversation = std::make_shared<Conversation>(id, std::move(stream), tell_);
  auto spawned =
      tasks_.spawn("stream of a recorded node", [conversation] { conversation->serve(); });
  if (spawned) {
    conversations_.emplace(id, conversation);
  } else {
    // Posted, so the refusal comes after the answer about the connection.
    scheduler_.post([conversation, error = spawned.error()] { conversation->refuse(error); });
  }
  return connected;
}

void Outside::close(std::uint64_t stream) {
  const auto found = conversations_.find(stream);
  if (found == conversations_.end()) return;
  found->second->close();
  conversations_.erase(found);
}

void Outside::answer(std::uint64_t call, std::function<Result<Arrival>()> work) {
  const auto tell = [this, call](Result<Arrival> result) {
    Arrival arrival;
    if (result) {
      arrival = *std::move(result);
    } else {
      *arrival.mutable_failure() = to_message(result.error());
    }
    arrival.set_call(call);
    tell_(std::move(arrival));
  };
  auto spawned = tasks_.spawn("call of a recorded node", [this, call, tell, work] {
    auto result = work();
    calls_.erase(call);
    tell(std::move(result));
  });
  if (spawned) {
    calls_.emplace(call, *spawned);
  } else {
    tell(spawned.error());
  }
}

Result<Arrival> Outside::connect(const Connect& ask, std::uint64_t id) {
  auto connected =
      network_.connect(to_endpoint(ask.peer()), Deadline::never(), options_of(ask.stream()));
  if (!connected) return std::move(connected.error());
  // The node has given up at the last moment.
  if (coroutine::is_cancelled()) return Error(Code::cancelled, "the call was given up");
  Arrival arrival;
  *arrival.mutable_connected() = begin(*std::move(connected), id);
  return arrival;
}

Result<Arrival> Outside::resolve(const HostName& ask) {
  auto resolved = network_.resolve(
      {.host = ask.host(), .port = static_cast<std::uint16_t>(ask.port())}, Deadline::never());
  if (!resolved) return std::move(resolved.error());
  Arrival arrival;
  for (const net::Endpoint& endpoint : *resolved) {
    *arrival.mutable_resolved()->add_addresses() = to_message(endpoint);
  }
  return arrival;
}

Result<Arrival> Outside::store(const StoreCall& ask) {
  if (store_ == nullptr) {
    auto opened = open_store_();
    if (!opened) return std::move(opened.error());
    store_ = *std::move(opened);
  }
  auto stored = perform(*store_, ask);
  if (!stored) return std::move(stored.error());
  Arrival arrival;
  *arrival.mutable_stored() = *std::move(stored);
  return arrival;
}

}  // namespace corolane::framework::recording
