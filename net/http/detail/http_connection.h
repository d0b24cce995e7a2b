// SPDX-License-Identifier: MIT
// One connection of an HttpServer: reads requests on the loop's stack, one exchange after the
// other.
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
#include "net/connection_bound.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/read_half.h"
#include "net/http/detail/http_request_parser.h"
#include "net/http/http_exchange.h"
#include "net/http/http_server.h"
#include "net/stream.h"

namespace corolane::net::detail {

// The memory for a request and its answer. Recycled; an idle connection has none.
struct HttpMessages {
  HttpRequestParser parser;
  HttpRequest request;
  HttpResponse response;
  std::string head;
};

class HttpConnection final : public HttpExchange, private ReadSink, private coroutine::Timer {
 public:
  // The part of the server that a connection needs.
  class Host {
   public:
    virtual std::unique_ptr<HttpMessages> take_messages() = 0;
    virtual void give_back(std::unique_ptr<HttpMessages> messages) = 0;
    // The service has to answer a request that was read.
    virtual void begin(HttpConnection& connection) = 0;
    // The answer to it is sent, or cannot be sent any more.
    virtual void answered(HttpConnection& connection) = 0;
    virtual void request_refused() = 0;
    // The value of the Date header; empty for none.
    virtual std::string_view date() = 0;
    // The connection is closed and awaits no answer. It may be destroyed later.
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
  // Whether a request awaits its answer.
  bool is_serving() const { return awaits_answer_; }
  // When it last ran out of requests.
  TimePoint idle_since() const { return idle_since_; }
  // Since when it waits for its peer to take an answer; the largest when it does not wait.
  TimePoint sending_since() const { return sending_since_; }

  // Answers 503 instead of reading, and ends.
  void turn_away() { refuse(503); }

  // Takes no more requests than it has read: closes at once when there is none.
  void leave();
  // Drops everything. ended() follows when a request that awaits its answer is answered.
  void close() { end(); }

  // Its place among all connections, if those are bounded; empty for one that was turned away.
  ConnectionBound::Place place;

 private:
  // reading: awaits or reads a request. serving: a request awaits its answer. closing: reads no
  // more requests, sends what is queued, and waits for the peer's end.
  enum class State { reading, serving, closing, ended };

  const HttpRequest& request() const override { return messages_->request; }
  HttpResponse& response() override { return messages_->response; }
  const Endpoint& peer_endpoint() const override { return stream_->peer_endpoint(); }
  void bind(coroutine::TaskRef task) override;
  void watch(Watcher& watcher) override;
  Result<void> write(std::string_view piece, Deadline deadline) override;
  Result<void> try_write(std::string_view piece) override;
  void answer() override;
  void answer_at_once() override;

  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;
  void on_time();
  void on_time_closing();
  // Pauses reading while enough input waits behind the request that is answered.
  void regulate_reading();
  // Reads from the front; returns the number of bytes consumed.
  std::size_t read(std::span<const std::byte> bytes);
  // Reads and begins requests until one awaits its answer or more input is needed.
  void go_on();
  bool has_room_for_an_answer();
  void begin_serving();
  void note_that_client_left();
  bool append_head_to(std::string& text);
  // Appends a piece of the body, behind the head of the answer if it is the first one.
  void append_piece_to(std::string& text, std::string_view piece);
  // The answer in the output's own memory where possible.
  std::span<const std::byte> make_answer();
  std::span<const std::byte> put_in_output(std::string_view head, std::string_view body);
  void settle(bool goes_on);
  void wait_for_request();
  // Tells the account of the connection how much memory the requests and the answer take.
  void count_held();
  void refuse(unsigned status);
  void write_at_once(std::string_view text);
  void finish_writing();
  void end();

  Host& host_;
  const HttpServer::Options& options_;
  const std::uint64_t id_;
  const std::unique_ptr<Stream> stream_;
  ByteBudget::Share held_;
  const std::string peer_;
  State state_ = State::reading;
  TimePoint idle_since_ = now();
  TimePoint sending_since_ = TimePoint::max();
  std::uint64_t answered_count_ = 0;
  bool is_inside_ = false;      // Inside go_on(), which goes on by itself.
  bool awaits_answer_ = false;  // Also when it has ended meanwhile.
  bool client_left_ = false;    // While the present request awaits its answer.
  bool in_pieces_ = false;      // The head of the answer is sent, and perhaps some of its body.
  bool is_chunked_ = false;
  bool keeps_alive_ = false;        // Another request may follow the answer that is being sent.
  bool waits_for_room_ = false;     // A whole request waits until earlier answers are sent,
  TimePoint room_awaited_until_{};  // at most until then.
  bool is_leaving_ = false;         // The next answer is the last one.
  bool peer_ended_ = false;         // The peer sends nothing more.
  bool write_failed_ = false;       // The peer takes no answers.
  SourcePause pause_;
  OutputProgress output_progress_;                // Used while closing.
  std::uint64_t closing_acknowledged_bytes_ = 0;  // When the present time began to run,
  TimePoint progress_at_{};                       // When the peer was last seen to take something.
  TimePoint closing_until_{};                     // which ends here.
  coroutine::TaskRef task_;                       // Answers the request.
  Watcher* watcher_ = nullptr;                    // Is told that the client has left.
  std::unique_ptr<HttpMessages> messages_;        // From the first byte of a request to its answer.
  ByteBuffer input_;                              // Not taken by the parser yet.
};

}  // namespace corolane::net::detail
