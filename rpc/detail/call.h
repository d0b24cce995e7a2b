// One request that is being served: its message, its context, and the way back.
//
// Calls are recycled with their memory, so that in the steady state serving one allocates nothing
// beyond what its messages need.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/timer_wheel.h"
#include "rpc/context.h"
#include "rpc/server.h"
#include "rpc/service.h"

namespace corolane::rpc::detail {

class ServerConnection;

struct ServedMethod {
  const Method* method;
  Service* service;
  Server::MethodStatistics statistics;
};

class Call final : public ReplySink, private coroutine::Timer {
 public:
  Call();

  // Parses the request; false when it is malformed.
  bool parse(ServedMethod& served, std::span<const std::byte> bytes);
  // `id` is the caller's; `deadline` may be never.
  void begin(ServerConnection& from, std::uint64_t id, Deadline deadline);
  // From now on the deadline and cancel() end the handler's task.
  void bind(coroutine::TaskRef task);
  // Runs the handler, unless nobody waits for it any more, and replies. Suspends.
  void run();
  // Ready to be used again.
  void reset();

  // The caller no longer waits for a reply: ends the handler.
  void cancel();
  ServerConnection& connection() const { return *connection_; }
  ServedMethod& served() const { return *served_; }
  std::uint64_t id() const { return id_; }
  TimePoint begun_at() const { return begun_at_; }
  bool has_failed() const { return failed_; }
  bool threw() const { return threw_; }

  // Where its connection lists it.
  std::size_t index = 0;

 private:
  Result<void> reply(const google::protobuf::Message& message) override;
  // What the caller is told: not that something cancelled the handler, but what did.
  Error why_ended(const Error& error) const;
  void reply_error(const Error& error);
  Result<void> invoke();

  // Small requests live here, larger ones spill over to the heap.
  alignas(16) std::array<char, 2048> arena_block_;
  google::protobuf::Arena arena_;
  ServedMethod* served_ = nullptr;
  google::protobuf::Message* request_ = nullptr;
  ServerConnection* connection_ = nullptr;
  std::uint64_t id_ = 0;
  std::optional<Context> context_;
  coroutine::TaskRef task_;
  TimePoint begun_at_;
  bool cancelled_ = false;  // By the caller.
  bool expired_ = false;
  bool begun_ = false;  // The handler.
  bool failed_ = false;
  bool threw_ = false;
};

class CallPool {
 public:
  Call& take();
  void give_back(Call& call);

 private:
  std::vector<std::unique_ptr<Call>> all_;
  std::vector<Call*> idle_;
};

}  // namespace corolane::rpc::detail
