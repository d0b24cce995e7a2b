// A client as the server sees it: its connection and the calls that it has in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coroutine/timer_wheel.h"
#include "rpc/detail/connection.h"

namespace corolane::rpc::detail {

class Call;

class ServerConnection final : public Connection {
 public:
  // The server, as far as a connection needs it. All on the loop's stack.
  class Host {
   public:
    // A request frame: answers it or starts its handler.
    virtual void serve(ServerConnection& connection, const Frame& frame) = 0;
    // The connection is closed and has no call any more. It may be destroyed later.
    virtual void ended(ServerConnection& connection) = 0;

   protected:
    ~Host() = default;
  };

  ServerConnection(Host& host, std::uint64_t id, std::unique_ptr<net::Stream> stream,
                   std::size_t request_bytes_max, Deadline hello_deadline);

  std::uint64_t id() const { return id_; }
  std::size_t call_count() const { return calls_.size(); }

  void add(Call& call);
  void remove(Call& call);

  // From a task: suspends while the client takes nothing. Errors are those of send().
  Result<void> reply_error(std::uint64_t call_id, const Error& error, Deadline deadline);
  // On the loop's stack: never suspends; a client that does not read its refusals is closed.
  void refuse(std::uint64_t call_id, const Error& error);

 private:
  struct HelloTimer : coroutine::Timer {
    explicit HelloTimer(ServerConnection& silent) : Timer(&HelloTimer::fire), connection(silent) {}
    static void fire(Timer& timer);
    ServerConnection& connection;
  };

  void on_hello() override { hello_timer_.cancel(); }
  Result<void> on_frame(const Frame& frame) override;
  void on_lost(const Error& reason) override;
  void on_closed() override;

  Host& host_;
  std::uint64_t id_;
  std::vector<Call*> calls_;
  bool closed_ = false;
  HelloTimer hello_timer_{*this};
};

}  // namespace corolane::rpc::detail
