// SPDX-License-Identifier: MIT
// The object calls that wait for the running one. A call back into one of those objects would
// deadlock, so it is refused before it waits.
//
// A task-local value, set while a handler of an object runs and inherited by the tasks that it
// spawns. It allocates only when a handler calls another object or spawns a task.
//
// A chain may come from another process, and each object call searches all of it, so its length is
// bounded: a call that would make it longer is refused, and so is a call that arrives with a longer
// one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/task_info.h"
#include "coroutine/task_local.h"
#include "rpc/object_target.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class CallChain {
 public:
  // More than any game nests. Each link adds to the search of every later call.
  static constexpr std::size_t length_max = 256;

  class OutCall;

  // One call, linked to the calls that wait for it.
  struct Link {
    Link(std::shared_ptr<const Link> its_parent, std::string_view its_method,
         std::string_view its_id, std::uint64_t its_epoch = 0)
        : parent(std::move(its_parent)), method(its_method), id(its_id), epoch(its_epoch) {}
    // Destroys the unshared links in a loop: recursive destructors would overflow the stack of a
    // task.
    ~Link() { let_go(std::move(parent)); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // The call has ended and blocks no caller any more. A task that it has spawned may outlive it
    // and keep the link.
    void end();

    mutable std::shared_ptr<const Link> parent;  // Null once this call has ended.
    std::string method;                          // "package.Counter/Add".
    std::string id;
    std::uint64_t epoch = 0;  // That of the object's owner; 0: it is on another node.
    bool has_ended = false;
    bool is_outside = false;  // It has given its turn away, so a call back is no deadlock.
    // The calls that it waits for, the latest first: a handler may call several objects at a time.
    mutable OutCall* out_calls = nullptr;

   private:
    static void let_go(std::shared_ptr<const Link> link);
  };

  // A call that another one makes, on the stack of the task that waits for it.
  class OutCall {
   public:
    // Made by the task that waits; `list` is that of the calls of its caller, the latest first. All
    // of them live as long as the call.
    OutCall(OutCall*& list, const rpc::Method& method, const std::string& type,
            const std::string& id)
        : method_(method),
          type_(type),
          id_(id),
          task_(coroutine::current_task_id()),
          next_(list),
          link_(&list) {
      if (next_ != nullptr) next_->link_ = &next_;
      list = this;
    }
    ~OutCall() {
      *link_ = next_;
      if (next_ != nullptr) next_->link_ = link_;
    }
    OutCall(const OutCall&) = delete;
    OutCall& operator=(const OutCall&) = delete;

    const rpc::Method& method() const { return method_; }
    std::string_view type() const { return type_; }  // "package.Counter".
    std::string_view id() const { return id_; }
    coroutine::TaskId task() const { return task_; }
    const OutCall* next() const { return next_; }

   private:
    const rpc::Method& method_;
    const std::string& type_;
    const std::string& id_;
    const coroutine::TaskId task_;
    OutCall* next_;
    OutCall** link_;
  };

  // A running call, on the stack of its task. Other tasks get a Link.
  class Frame;

  // While it lives, the call that runs in this task is without its turn.
  class Outside {
   public:
    inline Outside();
    ~Outside() { set(false); }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    inline void set(bool is_outside) const;

    Frame* const frame_;
  };

  // Empty: outside of objects.
  CallChain() = default;
  // For calls that wait in another task.
  explicit CallChain(std::shared_ptr<const Link> link) : elsewhere_(std::move(link)) {}
  CallChain(const CallChain& other) : elsewhere_(other.link()) {}
  CallChain& operator=(const CallChain& other) = delete;
  CallChain(CallChain&& other) = default;
  CallChain& operator=(CallChain&& other) = default;
  ~CallChain() = default;

  // The running task's chain; null outside of objects.
  static inline const CallChain* current();
  // The same for signal handlers.
  static inline const CallChain* peek();
  // Sets the chain of a task that serves calls waiting elsewhere.
  static void enter(CallChain chain);

  // The parent of the next call that this task makes.
  std::shared_ptr<const Link> link() const {
    return frame_ == nullptr ? elsewhere_ : link_of_frame();
  }
  // The call that runs in this task; null in a task that the call has spawned.
  const Frame* frame() const { return frame_; }

 private:
  std::shared_ptr<const Link> link_of_frame() const;

  Frame* frame_ = nullptr;
  std::shared_ptr<const Link> elsewhere_;
};

extern constinit coroutine::TaskLocal<CallChain, coroutine::Inheritance::copy> call_chain;

inline const CallChain* CallChain::current() { return call_chain.get(); }

inline const CallChain* CallChain::peek() { return call_chain.peek(); }

class CallChain::Frame {
 public:
  // `method` and `id` live as long as the frame; `turn` belongs to the host.
  Frame(std::shared_ptr<const Link> parent, const char* method, const std::string& id,
        std::uint64_t epoch, void* turn)
      : parent_(std::move(parent)), method_(method), id_(id), epoch_(epoch), turn_(turn) {
    // A signal handler reads the running frame.
    std::atomic_signal_fence(std::memory_order_release);
    chain_.value().frame_ = this;
  }
  ~Frame() {
    if (own_ != nullptr) [[unlikely]]
      own_->end();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void* turn() const { return turn_; }
  // Null while it has called no other object.
  const Link* own_link() const { return own_.get(); }
  // `package.Counter/Add("17")`, truncated to `room`. Returns its size. Async-signal-safe.
  std::size_t write_name(std::span<char> room) const;

 private:
  friend class CallChain;
  friend class Outside;

  void set_outside(bool is_outside) {
    is_outside_ = is_outside;
    if (own_ != nullptr) own_->is_outside = is_outside;
  }

  std::shared_ptr<const Link> parent_;
  const char* const method_;
  const std::string& id_;
  const std::uint64_t epoch_;
  void* const turn_;
  bool is_outside_ = false;
  std::shared_ptr<Link> own_;  // Created on demand.
  // The chain of the task, or of its part, while the call runs.
  coroutine::TaskLocal<CallChain, coroutine::Inheritance::copy>::Guest chain_{call_chain};
};

inline CallChain::Outside::Outside() : frame_(current() == nullptr ? nullptr : current()->frame_) {
  set(true);
}

inline void CallChain::Outside::set(bool is_outside) const {
  if (frame_ != nullptr) frame_->set_outside(is_outside);
}

// The chain of a received call. Fails with failed_precondition when there are more than
// CallChain::length_max calls.
Result<std::shared_ptr<const CallChain::Link>> link_of(std::span<const rpc::ObjectCall> calls);

// The chain to send: the outermost call first, as views into `link`, without calls that have ended
// or are without their turn.
std::vector<rpc::ObjectCall> calls_of(const CallChain::Link* link);

// The call of that object in the chain, which blocks it until the chain has ended; null when none
// does.
const CallChain::Link* find_call(const CallChain::Link* link, std::string_view type,
                                 std::string_view id);

// `package.Guild/Join("lions") -> package.Player/Pay("ada")`: the chain, and the call that it
// makes.
std::string text_of_calls(const CallChain::Link* link, std::string_view method,
                          std::string_view id);

// Checks whether `link` may call `method` of the object. Fails with failed_precondition when the
// object, whose `type` is "package.Counter", waits for `link` (the message shows the whole cycle),
// or when CallChain::length_max calls wait already.
Result<void> check_may_call(const CallChain::Link* link, std::string_view method,
                            std::string_view type, std::string_view id);

}  // namespace corolane::framework::detail
