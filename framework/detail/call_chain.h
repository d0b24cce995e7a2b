// The calls of objects that wait for the one that runs: so that a call back into one of them, which
// would wait for itself, is refused before it waits.
//
// A task-local value, set while a handler of an object runs and inherited by the tasks that it
// spawns. What it takes is made when a handler calls on, or spawns, and not before.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/error.h"
#include "rpc/object_target.h"

namespace corolane::framework::detail {

class CallChain {
 public:
  // One of the calls, and those that wait for it.
  struct Link {
    std::shared_ptr<const Link> parent;
    std::string method;  // "package.Counter/Add".
    std::string id;
    bool has_ended = false;  // A task that it has left behind holds up nobody.
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

// What came over a connection.
std::shared_ptr<const CallChain::Link> link_of(std::span<const rpc::ObjectCall> calls);

// What goes over one: the outermost first, in views of `link`. Not of what has ended.
std::vector<rpc::ObjectCall> calls_of(const CallChain::Link* link);

// Whether the object waits for the end of `link`; `type` is "package.Counter". The error has the
// whole cycle in its message.
std::optional<Error> find_cycle(const CallChain::Link* link, std::string_view method,
                                std::string_view type, std::string_view id);

}  // namespace corolane::framework::detail
