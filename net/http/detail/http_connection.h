// SPDX-License-Identifier: MIT
// One connection of an HttpServer: reads requests on the loop's stack, has a task while it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/task.h"
#include "coroutine/timer_wheel.h"
#include "net/address_shares.h"
#include "net/connection_bound.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/read_half.h"
#include "net/http/detail/http_request_parser.h"
#include "net/http/http_server.h"
#include "net/stream.h"

namespace corolane::net::detail {

// The memory for a request and its answer. Recycled; an idle connection has none.
struct HttpExchange {
  HttpRequestParser parser;
  HttpRequest request;
  HttpResponse response;
  std::string head;
};

class HttpConnection final : private ReadSink, private coroutine::Timer {
 public:
  // The part of the server that a connection needs.
  class Host {
   public:
    virtual std::unique_ptr<HttpExchange> take_exchange() = 0;
    virtual void give_back(std::unique_ptr<HttpExchange> exchange) = 0;
    // Starts the task of the connection, which calls serve().
    virtual Result<coroutine::TaskRef> begin_serving(HttpConnection& connection) = 0;
    virtual void answer(const HttpRequest& request, HttpResponse& response) = 0;
    virtual void request_read() = 0;
    virtual void request_refused() = 0;
    // The connection has finished its last request.
    virtual void became_idle() = 0;
    // The value of the Date header; empty for none.
    virtual std::string_view date() = 0;
    // The connection is closed and has no task. It may be destroyed later.
    virtual void ended(HttpConnection& connection) = 0;

   protected:
    ~Host() = default;
  };

  // `host` and `options` outlive it.
  HttpConnection(Host& host, const HttpServer::Options& options, std::uint64_t id,
                 std::unique_ptr<Stream> stream);
  ~HttpConnection() = default;

  // Begins to read.
  void start();
  std::uint64_t id() const { return id_; }
  Stream& stream() { return *stream_; }
  std::uint64_t answered_count() const { return answered_count_; }
  // Whether a request is being answered.
  bool is_serving() const { return state_ == State::serving; }
  // Whether it has a task: from its first pending request to its last answer.
  bool has_task() const { return has_task_; }
  // When it last ran out of requests.
  TimePoint idle_since() const { return idle_since_; }
  // Since when it waits for its peer to take an answer; the largest when it does not wait.
  TimePoint sending_since() const { return sending_since_; }

  // Runs in the connection's task: answers the request that was read, and the requests behind it.
  // Suspends.
  void serve();

  // Answers 503 instead of reading, and ends.
  void turn_away() { refuse(503); }

  // Takes no more requests than it has read: closes at once when there is none.
  void leave();
  // Drops everything. A running task is cancelled, and ended() follows.
  void close();

  // Its place among all connections, if those are bounded; empty for one that was turned away.
  ConnectionBound::Place place;
  // Counts the request being served as one of its address.
  AddressShares::Guest shares;

 private:
  // reading: awaits or reads a request. serving: the task answers. closing: reads no more requests,
  // and only waits for the peer's end.
  enum class State { reading, serving, closing, ended };

  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;
  void on_time();
  // Pauses reading while enough input waits behind the request that is answered.
  void regulate_reading();
  // Reads from the front; returns the number of bytes consumed.
  std::size_t read(std::span<const std::byte> bytes);
  bool read_kept();
  void after_reading();
  void begin_serving();
  void wait_for_request();
  void refuse(unsigned status);
  bool answer();
  void write(std::string_view text);
  void finish_writing();
  void end();

  Host& host_;
  const HttpServer::Options& options_;
  const std::uint64_t id_;
  const std::unique_ptr<Stream> stream_;
  const std::string peer_;
  State state_ = State::reading;
  TimePoint idle_since_ = now();
  TimePoint sending_since_ = TimePoint::max();
  std::uint64_t answered_count_ = 0;
  bool is_leaving_ = false;  // The next answer is the last one.
  bool peer_ended_ = false;  // The peer sends nothing more.
  SourcePause pause_;
  bool write_failed_ = false;       // The peer takes no answers.
  OutputProgress output_progress_;  // Used while closing.
  TimePoint closing_until_{};
  bool has_task_ = false;
  coroutine::TaskRef task_;
  std::unique_ptr<HttpExchange> exchange_;  // From the first byte of a request to its answer.
  ByteBuffer input_;                        // Not taken by the parser yet.
};

}  // namespace corolane::net::detail
