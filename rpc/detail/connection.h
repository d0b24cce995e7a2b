// What both ends of a connection share: a stream that carries frames, and the hello.
//
// Cuts frames on the loop's stack and hands them to its derived class. A peer that sends what is
// no frame, or whose hello does not fit, is closed; a server tells it why (bye) before.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/timer_wheel.h"
#include "net/stream.h"
#include "rpc/frame.h"

namespace corolane::rpc::detail {

class Connection : private net::ReadSink {
 public:
  Connection(std::unique_ptr<net::Stream> stream, std::size_t payload_size_max);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Says hello and begins to read.
  void start();

  // Sends a frame with a message. Suspends while the peer takes nothing; needs a task. Fails as
  // net::Stream::write_all() does, or with resource_exhausted and nothing sent when the message is
  // above 1 GiB.
  Result<void> send(FrameHeader header, const google::protobuf::MessageLite& message,
                    Deadline deadline);
  // The same with a text, which may be empty. Does not suspend when the deadline has passed.
  Result<void> send_text(FrameHeader header, std::string_view text, Deadline deadline);
  // The same on the loop's stack: never suspends; a peer that does not take what it asked for is
  // closed.
  void send_text(FrameHeader header, std::string_view text);

  // Ends it: on_lost() at once; unless that calls close(), as a client's does, the peer is told
  // why, and closed once it has read that, at the latest after a second.
  void say_bye(const Error& reason);
  // Drops what is queued and closes; the derived class is not told.
  void close();

  bool is_open() const { return state_ == State::open; }
  // It was ended for what the peer sent.
  bool broke_protocol() const { return broke_protocol_; }
  net::Stream& stream() { return *stream_; }

 protected:
  ~Connection() = default;

 private:
  enum class State { expects_hello, open, leaving, ended };

  // On the loop's stack: must not suspend, may close this connection but not destroy it.
  virtual void on_hello() = 0;
  // An error closes the connection, see say_bye().
  virtual Result<void> on_frame(const Frame& frame) = 0;
  // Called once, unless close() was called: no frame comes or goes any more.
  virtual void on_lost(const Error& reason) = 0;
  // Called once after on_lost(): the stream is closed, and soon the connection may be destroyed.
  virtual void on_closed() {}

  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;
  Result<void> handle(const Frame& frame);

  struct LeaveTimer : coroutine::Timer {
    explicit LeaveTimer(Connection& leaving) : Timer(&LeaveTimer::fire), connection(leaving) {}
    static void fire(Timer& timer);
    Connection& connection;
  };

  std::unique_ptr<net::Stream> stream_;
  FrameDecoder decoder_;
  State state_ = State::expects_hello;
  bool broke_protocol_ = false;
  LeaveTimer leave_timer_{*this};
};

}  // namespace corolane::rpc::detail
