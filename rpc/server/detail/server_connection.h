// SPDX-License-Identifier: MIT
// A client as the server sees it: its connection and its calls in flight.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "net/connection_bound.h"
#include "rpc/principal.h"
#include "rpc/server/detail/caller.h"
#include "rpc/server/detail/session_table.h"
#include "rpc/session.h"
#include "rpc/wire/detail/connection.h"

namespace corolane::rpc::detail {

class ServerConnection final : public Connection, public Caller, private Session::Socket {
 public:
  // The server, as far as a connection needs it. Its methods run on the loop's stack.
  class Host {
   public:
    // Finds the principal of a client that has said hello, and its session on other servers, and
    // calls logged_in().
    virtual Result<void> log_in(ServerConnection& connection) = 0;
    virtual PrincipalCounts& principals() = 0;
    virtual SessionTable& sessions() = 0;
    // The handshake of a connection is done. An error rejects the client.
    virtual Result<void> opened() = 0;
    // A request frame: answers it or accepts it.
    virtual void serve(ServerConnection& connection, const Frame& frame) = 0;
    // The connection is closed and has no more calls. It may be destroyed later.
    virtual void ended(ServerConnection& connection) = 0;

   protected:
    ~Host() = default;
  };

  // The settings of a listener for all its connections.
  struct Rules {
    bool needs_peer_certificate = false;
    Door door = Door::nodes;
    std::size_t call_count_max = 0;
    // The caller of a refused call should wait for this time.
    std::chrono::milliseconds retry_after{};
    const Login* login = nullptr;  // Null: every peer is anonymous.
  };

  ServerConnection(Host& host, std::uint64_t id, std::unique_ptr<net::Stream> stream,
                   Handshake handshake, const Limits& limits, const Rules& rules);

  std::uint64_t id() const { return id_; }
  const Rules& rules() const { return rules_; }
  // The outcome of a login, for which the host was asked, and the session, if the client keeps one.
  // Returns false when the client has left meanwhile, or does not stay.
  bool logged_in(Result<Principal> principal, const SessionTable::Found& session);
  // A login whose outcome is awaited: it is cancelled when the client leaves, and counts as a call
  // until then.
  void bind_login(coroutine::TaskRef task) {
    login_ = task;
    shares.take();
  }
  // Whether the client keeps a session, and the one that it would resume.
  bool keeps_session();
  std::string named_session();
  // After the handshake: the same on all connections with the same requester, certificate and
  // principal, each of which may be absent; unique to this connection when all are.
  std::string_view request_scope() override;

  std::size_t call_count() const { return calls_.size(); }
  // So far.
  std::uint64_t ended_call_count() const { return ended_call_count_; }
  void add(Call& call) override;
  void remove(Call& call) override;
  void refuse(std::uint64_t call_id, const Error& error) override;

  // Asks the client to make no new calls here. It answers, and closes when it has all replies.
  void ask_to_leave();
  // The client has answered go_away: it sends no more requests.
  bool has_left() const { return has_left_; }
  // Ends all streams that the client reads: they have no natural end.
  void cancel_streams();

  // Its place among all connections; empty for a connection that was turned away.
  net::ConnectionBound::Place place;

 private:
  std::int64_t stream_window_bytes() const override { return rpc::stream_window_bytes; }
  bool awaits_every_answer() const override { return false; }
  Result<void> check_may_call() const override;
  Result<void> send_reply(std::uint64_t call_id, const google::protobuf::Message& message,
                          Beside beside, Deadline deadline) override;
  Result<void> send_item(std::uint64_t call_id, const google::protobuf::Message& message,
                         Beside beside, Deadline deadline) override;
  void grant(std::uint64_t call_id, std::uint32_t bytes) override;
  void send_end(std::uint64_t call_id, Beside beside, Deadline deadline) override;
  void send_error(std::uint64_t call_id, const Error& error, Beside beside,
                  Deadline deadline) override;
  Result<bool> on_hello() override;
  void end_login();
  // Whether to serve a frame of that many calls, 0 or 1; otherwise it is answered.
  Result<bool> is_within_rate(const Frame& frame, std::size_t call_count);
  void take_session(const SessionTable::Found& found);
  const std::string& peer_name() const override { return peer_; }
  bool send_push(const Session::Pushed& push) override;
  bool send_gap(std::uint64_t number) override;
  void leave(const Error& reason, bool has_moved) override;
  void see_calls(const Session::SeeCall& see) const override;
  Result<void> on_open() override;
  Result<void> on_frame(const Frame& frame) override;
  void on_lost(const Error& reason) override;
  void on_closed() override;
  Call* find(std::uint64_t call_id) const;

  Host& host_;
  const std::uint64_t id_;
  const Rules rules_;
  coroutine::TaskRef login_;
  std::string request_scope_;  // Empty until the first use.
  std::vector<Call*> calls_;
  std::vector<std::uint64_t> call_ids_;  // Their ids, contiguous: a cancel searches it.
  std::uint64_t ended_call_count_ = 0;
  // Reads no more of a client that is ahead of its rate, for a time.
  class Slowdown final : private coroutine::Timer {
   public:
    explicit Slowdown(net::Stream& stream)
        : Timer([](Timer& timer) { static_cast<Slowdown&>(timer).stream_.resume_reading(); }),
          stream_(stream) {}
    void begin(Duration time);
    void end() { Timer::cancel(); }

   private:
    net::Stream& stream_;
  };
  Slowdown slowdown_;
  std::uint64_t received_push_ = 0;  // By the client, before it resumed.
  bool was_asked_to_leave_ = false;
  bool has_left_ = false;
  bool closed_ = false;
};

}  // namespace corolane::rpc::detail
