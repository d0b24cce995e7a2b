// Keeps outgoing calls with the same order key in the order in which they were made.
//
// A call takes a place when it is made. It may be sent when all earlier calls with its key have
// been sent or are gone. A call that is retried goes back to its place, and later calls wait; the
// retry is refused when a later call was sent meanwhile, because the server has seen that one
// first.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/wait_queue.h"

namespace corolane::rpc::detail {

class CallOrder {
  struct Lane {
    std::uint64_t last_made = 0;
    std::uint64_t last_sent = 0;
    std::set<std::uint64_t> unsent;
    std::size_t place_count = 0;
    coroutine::WaitQueue turn{"rpc calls before it"};
  };

 public:
  // The place of one call. With key zero, no key, it is always its turn.
  class Place {
   public:
    Place(CallOrder& order, std::uint64_t key);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Suspends. Fails with deadline_exceeded or cancelled.
    Result<void> wait_for_turn(Deadline deadline);
    // The call is appended to the output before its task suspends again.
    void sent();
    // Takes the place back for a retry; false when a later call has overtaken it.
    bool take_back();

   private:
    void leave();

    CallOrder& order_;
    const std::uint64_t key_;
    Lane* lane_ = nullptr;  // Null without a key.
    std::uint64_t number_ = 0;
  };

 private:
  // By key, while there are calls with that key.
  std::unordered_map<std::uint64_t, Lane> lanes_;
};

}  // namespace corolane::rpc::detail
