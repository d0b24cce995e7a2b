// SPDX-License-Identifier: MIT
// One HTTP request that makes a call, as the server's admission sees it: it has one call, and
// awaits its answer whatever becomes of the call.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "coroutine/timer_wheel.h"
#include "net/http/http_exchange.h"
#include "rpc/http/detail/http_question.h"
#include "rpc/http/json.h"
#include "rpc/server/detail/call.h"
#include "rpc/server/detail/caller.h"

namespace corolane::rpc::detail {

class HttpCaller final : public Caller,
                         private net::HttpExchange::Watcher,
                         private coroutine::Timer {
 public:
  // The face.
  class Host {
   public:
    // In the task of the call.
    virtual Result<Principal> log_in(const net::HttpRequest& request) = 0;
    virtual PrincipalCounts& principals() = 0;
    virtual JsonReader& reader() = 0;
    virtual JsonWriter& writer() = 0;
    virtual std::size_t reply_bytes_max() const = 0;
    // The call is over, and answered.
    virtual void give_back(HttpCaller& caller) = 0;

   protected:
    ~Host() = default;
  };

  explicit HttpCaller(Host& host)
      : Timer([](Timer& timer) { static_cast<HttpCaller&>(timer).on_silence(); }), host_(host) {}

  // Begins with the request of an exchange.
  void open(net::HttpExchange& exchange, Format format, Door door, net::AddressShares& shares);
  // The server has taken the call on: it may be cancelled.
  void follow();
  // Gives the call the messages of a body of envelopes, which together have at most that size.
  void put_items(std::string_view body, bool may_be_zipped, std::size_t bytes_max);
  // Answers without a call: the server has refused it.
  void refuse(std::uint64_t call_id, const Error& error) override;
  // Makes it ready for reuse.
  void close();

 private:
  void client_left() override;
  // An event stream that has sent nothing for that long sends a comment.
  void keep_alive_after(Duration silence);
  void on_silence();

  // Request ids are not sent over HTTP.
  std::string_view request_scope() override { return {}; }
  std::int64_t stream_window_bytes() const override {
    return std::numeric_limits<std::int64_t>::max();
  }
  bool awaits_every_answer() const override { return true; }
  Result<void> check_may_call() const override { return {}; }
  void add(Call& call) override;
  void remove(Call& call) override;
  Result<void> log_in() override;
  Result<void> send_reply(std::uint64_t call_id, const google::protobuf::Message& message,
                          Beside beside, Deadline deadline) override;
  Result<void> send_item(std::uint64_t call_id, const google::protobuf::Message& message,
                         Beside beside, Deadline deadline) override;
  void grant(std::uint64_t, std::uint32_t) override {}  // The whole stream is there.
  Result<void> parse_item(std::span<const std::byte> item,
                          google::protobuf::Message& message) override;
  void send_end(std::uint64_t call_id, Beside beside, Deadline deadline) override;
  void send_error(std::uint64_t call_id, const Error& error, Beside beside,
                  Deadline deadline) override;
  // Appends a message in the format of the request.
  Result<void> append(const google::protobuf::Message& message, std::string& text);
  Result<void> put_in_piece(const google::protobuf::Message& message);
  Result<void> put_in_envelope(const google::protobuf::Message& message);
  Result<void> put_in_event(const google::protobuf::Message& message);
  bool is_worth_zipping(std::string_view text) const;
  void put(Beside beside);
  void put_end(const Error* error, const Headers* trailers);
  void put_last_event(const Error* error, const Headers* trailers);
  void put_error(const Error& error, const Headers* trailers);
  void answer();

  Host& host_;
  net::HttpExchange* exchange_ = nullptr;  // Null when it is answered.
  Format format_ = {};
  std::string piece_;  // The envelope or event that is being sent.
  Call* call_ = nullptr;
};

}  // namespace corolane::rpc::detail
