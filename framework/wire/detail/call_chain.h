// The calls of objects that wait for the one that runs: so that a call back into one of them, which
// would wait for itself, is refused before it waits.
//
// A task-local value, set while a handler of an object runs and inherited by the tasks that it
// spawns. What it takes is made when a handler calls on, or spawns, and not before.
//
// A chain may come from another process, and each call of an object looks through all of it, so it
// has a bound: a call that would make it longer is refused, and so is one that comes with more.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/object_target.h"

namespace corolane::framework::detail {

class CallChain {
 public:
  // More objects than any game has wait for one another; each costs every call behind it a look.
  static constexpr std::size_t length_max = 256;

  // One of the calls, and those that wait for it.
  struct Link {
    Link(std::shared_ptr<const Link> its_parent, std::string_view its_method,
         std::string_view its_id)
        : parent(std::move(its_parent)), method(its_method), id(its_id) {}
    // Destroys the links that nobody else holds in a loop: destructors that call one another would
    // overflow the stack of a task.
    ~Link() { let_go(std::move(parent)); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // It holds up nobody any more, nor do those before it: a task that it has left behind may live
    // for long.
    void end();

    mutable std::shared_ptr<const Link> parent;  // Null of one that has ended.
    std::string method;                          // "package.Counter/Add".
    std::string id;
    bool has_ended = false;

   private:
    static void let_go(std::shared_ptr<const Link> link);
  };

  // A call while it runs, on the stack of its task: other tasks get a Link.
  class Frame {
   public:
    // `method` lives as long as the program, `id` as long as the frame; `turn` is its host's.
    Frame(std::shared_ptr<const Link> parent, const char* method, const std::string& id,
          void* turn);
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    void* turn() const { return turn_; }
    // `package.Counter/Add("17")`, cut where the room ends. Returns its size. Async-signal-safe.
    std::size_t write_name(std::span<char> room) const;

   private:
    friend class CallChain;

    std::shared_ptr<const Link> parent_;
    const char* const method_;
    const std::string& id_;
    void* const turn_;
    Frame* outer_ = nullptr;     // Of the same task: it waits for this one.
    std::shared_ptr<Link> own_;  // Once somebody has asked for it.
  };

  // Outside of objects.
  CallChain() = default;
  // Of calls that wait elsewhere.
  explicit CallChain(std::shared_ptr<const Link> link) : elsewhere_(std::move(link)) {}
  CallChain(const CallChain& other) : elsewhere_(other.link()) {}
  CallChain& operator=(const CallChain& other) = delete;
  CallChain(CallChain&& other) = default;
  CallChain& operator=(CallChain&& other) = default;
  ~CallChain() = default;

  // The running task's; null outside of objects.
  static const CallChain* current();
  // Of a task that serves calls that wait elsewhere.
  static void enter(CallChain chain);

  // What a call that it makes has for a parent.
  std::shared_ptr<const Link> link() const;
  // Of the call that runs in this very task; null in one that it has spawned.
  const Frame* frame() const { return frame_; }

 private:
  Frame* frame_ = nullptr;
  std::shared_ptr<const Link> elsewhere_;
};

// What came over a connection. Fails with failed_precondition when there are more than
// CallChain::length_max.
Result<std::shared_ptr<const CallChain::Link>> link_of(std::span<const rpc::ObjectCall> calls);

// What goes over one: the outermost first, in views of `link`. Not of what has ended.
std::vector<rpc::ObjectCall> calls_of(const CallChain::Link* link);

// Whether a call that `link` makes may be made: fails with failed_precondition when the object,
// whose `type` is "package.Counter", waits for the end of `link`, with the whole cycle in the
// message; and when CallChain::length_max calls wait already.
Result<void> check_may_call(const CallChain::Link* link, std::string_view method,
                            std::string_view type, std::string_view id);

}  // namespace corolane::framework::detail
