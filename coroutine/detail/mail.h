// SPDX-License-Identifier: MIT
// What the threads of two schedulers hand to each other: work for the loop there.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace corolane::coroutine {
class Scheduler;
}

namespace corolane::coroutine::detail {

// Lies in its sender's own memory, so that sending allocates nothing. Once it is sent, it belongs
// to the scheduler there, until that calls one of the two.
struct Mail {
  // On the loop's stack there.
  void (*open)(Mail& mail);
  // The scheduler there ends first.
  void (*drop)(Mail& mail);
  Mail* next = nullptr;
};

// Some mail for one scheduler: the newest first, as in the queue of its receiver.
struct MailBag {
  void add(Mail& mail) {
    if (newest == nullptr) oldest = &mail;
    mail.next = std::exchange(newest, &mail);
    ++count;
  }

  Scheduler* to = nullptr;
  Mail* newest = nullptr;
  Mail* oldest = nullptr;
  std::size_t count = 0;
};

// Keeps what the tasks of one turn send until the turn ends. Then one step publishes all that goes
// to the same scheduler, and wakes it once.
class OutgoingMail {
 public:
  // `to` lives until send() has been called.
  void add(Scheduler& to, Mail& mail) {
    for (MailBag& bag : bags_) {
      if (bag.to == &to) return add_to(bag, mail);
    }
    bags_.push_back({.to = &to});
    add_to(bags_.back(), mail);
  }
  void send() {
    if (!bags_.empty()) send_all();
  }

 private:
  // Two threads that only wait for each other take turns when each sends all that it has at once;
  // a bag that is full goes at once, so that its receiver begins while its sender goes on.
  static constexpr std::size_t bag_size_max = 16;

  static void add_to(MailBag& bag, Mail& mail) {
    bag.add(mail);
    if (bag.count == bag_size_max) send_early(bag);
  }
  static void send_early(MailBag& bag);
  void send_all();

  std::vector<MailBag> bags_;
};

}  // namespace corolane::coroutine::detail
