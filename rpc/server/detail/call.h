// SPDX-License-Identifier: MIT
// One request that is being served: its message, its context, and the way back to its caller.
//
// Calls are recycled with their memory, so that in the steady state serving a call allocates only
// what its messages need.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/timer_wheel.h"
#include "net/byte_budget.h"
#include "rpc/context.h"
#include "rpc/detail/function_ref.h"
#include "rpc/server/detail/caller.h"
#include "rpc/server/detail/request_arena.h"
#include "rpc/server/detail/served_method.h"
#include "rpc/service.h"
#include "rpc/wire/detail/item_inbox.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc {

class RequestExtension;

namespace detail {

// Reads a request and its extension, which may hold an earlier call's. Returns whether there is an
// extension; fails with the error for the caller.
using ReadRequest =
    FunctionRef<Result<bool>(google::protobuf::Message& request, RequestExtension& extension)>;

class Call final : public Messages, private coroutine::Timer {
 public:
  // Learns when a call that has not begun will never begin.
  class Owner {
   public:
    virtual void gave_up(Call& call) = 0;

   protected:
    ~Owner() = default;
  };

  explicit Call(Owner& owner);
  ~Call() { give_back_memory(); }

  // Reads the request, of that size on the wire. Fails as `read` does, and with resource_exhausted
  // when the decoded messages exceed the budget.
  Result<void> take(ServedMethod& served, std::size_t payload_bytes, ReadRequest read,
                    net::ByteBudget& budget);
  // The call came from `caller` under the caller's id. From now on the deadline ends it.
  void accept(Caller& caller, std::uint64_t id, Deadline deadline, TimePoint arrived_at);
  // From now on the call has a task, which cancel() and the deadline cancel.
  void bind(coroutine::TaskRef task) { task_ = task; }
  // In its task, before run(): whether the handler will begin. It does not when the caller has
  // given up while the task waited for its turn, or the deadline has passed.
  bool will_begin(TimePoint now);
  // Runs the filters, observers and handler if it may begin, and replies. Suspends.
  void run(const Around& around, TimePoint now);
  // Makes the call ready for reuse.
  void reset();

  // Answers a call that has no task with an error.
  void refuse(const Error& error);
  // The caller has given up: cancels the handler, or keeps it from beginning.
  void cancel();
  // The server ends the call: its caller gets an error.
  void stop();
  // Puts in a message of the caller's stream that has not come as a frame.
  void put_item(std::span<const std::byte> item) { inbox_.put(item); }
  // The stream is malformed from here on.
  void fail_items(Error error) { items_failed_ = std::move(error); }
  // The next item of the caller's stream, and its end. An error is the caller's: its connection
  // ends.
  Result<void> take_item(const Frame& frame);
  void end_items();
  // The caller has room for `bytes` more of a stream.
  void give_room(std::uint32_t bytes);

  Caller& caller() const { return *caller_; }
  ServedMethod& served() const { return *served_; }
  std::uint64_t id() const { return id_; }
  // The object that is called; empty for a service, and while the handler does not run.
  std::string_view object_id() const;
  coroutine::TaskId task() const { return task_.id(); }
  TimePoint arrived_at() const { return arrived_at_; }
  // When the call ended, if an observer has read the clock just before; the epoch otherwise.
  TimePoint ended_at() const { return ended_at_; }
  bool is_one_way() const { return served_->method->one_way; }
  // The code of the error that it ended with; nothing after a success.
  std::optional<Code> code() const { return code_; }
  // Whether that error is the server's fault.
  bool is_fault_of_server() const { return is_fault_of_server_; }
  bool threw() const { return threw_; }

  // Its index in the list of a connection.
  std::size_t index = 0;
  // Its place in the queue while it waits.
  std::optional<std::uint64_t> place;

 private:
  void make_messages(const Method& method);
  void on_deadline();
  void give_back_memory();
  Result<bool> read(google::protobuf::Message& message) override;
  Result<void> reply(google::protobuf::Message& message) override;
  Result<void> write(const google::protobuf::Message& message) override;
  Result<void> wait_for_room();
  void serve(const Around& around, const Context::Facts& facts);
  bool is_awaited() const {
    return caller_->awaits_every_answer() || (!cancelled_ && !is_one_way());
  }
  // The error for the caller: why the handler was cancelled, rather than that it was.
  Error why_ended(const Error& error) const;
  // Returns whether it has sent anything, which takes time.
  bool answer(const Result<void>& result);
  void note_end(const Error& error);
  // The headers and trailers that the handler and its filters have set and that are not sent yet.
  // Fails with internal, and drops them, when they cannot be sent.
  Result<Caller::Beside> beside(bool is_last);

  Owner& owner_;
  RequestArena memory_;
  ServedMethod* served_ = nullptr;
  // Small messages outlive a call, with the memory of their strings, for the next call of the same
  // method. This is that method's constructor; null when there are no messages.
  google::protobuf::Message* (*new_request_)(google::protobuf::Arena* arena) = nullptr;
  google::protobuf::Message* request_ = nullptr;
  RequestExtension* extension_ = nullptr;
  bool has_extension_ = false;         // Whether the request had one.
  std::size_t payload_bytes_ = 0;      // On the wire.
  net::ByteBudget* budget_ = nullptr;  // Set when the request has taken some of it.
  net::ByteBudget* inbox_budget_ = nullptr;
  std::size_t inbox_bytes_ = 0;  // Taken of it for items that are not read yet.
  std::size_t taken_bytes_ = 0;
  Caller* caller_ = nullptr;
  std::uint64_t id_ = 0;
  Principal forwarded_for_;  // The client for which a node calls.
  Deadline deadline_ = Deadline::never();
  TimePoint arrived_at_;
  TimePoint ended_at_{};
  coroutine::TaskRef task_;
  std::int64_t room_bytes_ = 0;  // How much of a stream may still be sent.
  coroutine::Event room_{"room of the reader of a stream"};
  ItemInbox inbox_;  // The items of the caller's stream.
  coroutine::Event readable_{"the next message of a caller"};
  bool items_ended_ = false;
  std::optional<Error> items_failed_;
  bool cancelled_ = false;  // By the caller.
  bool expired_ = false;
  bool begun_ = false;          // The handler has begun.
  Headers headers_;             // The request has sent them.
  Context* context_ = nullptr;  // While the call runs.
  bool sent_headers_ = false;   // The headers of the reply are sent.
  std::optional<Code> code_;
  bool is_fault_of_server_ = false;
  bool threw_ = false;
};

// Recycles calls, up to the number that a busy server has at a time.
class CallPool {
 public:
  explicit CallPool(Call::Owner& owner) : owner_(owner) {}

  // The caller gives the call back.
  Call& take();
  void give_back(Call& call);

 private:
  static constexpr std::size_t idle_count_max = 1024;

  Call::Owner& owner_;
  std::vector<std::unique_ptr<Call>> idle_;
};

}  // namespace detail
}  // namespace corolane::rpc
