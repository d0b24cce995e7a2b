// SPDX-License-Identifier: MIT
// Bounds the memory that the peers of a server take together: half a message, input that waits,
// requests that are not served yet, output that is not sent.
//
//   ByteBudget budget(std::size_t{256} << 20);
//   auto listener = network.listen(endpoint, {.stream = {.budget = &budget}});
//   ...
//   if (!budget.take(request_bytes)) return refuse("the server has no room for more requests");
//
// Each connection has an account for what it holds. At the end of the budget the connections that
// hold the most are closed until the rest fits, so that those that hold little need not care about
// them. From three quarters on it is tight, and a connection that has unsent output is not read.
// Requests that are not served yet belong to no account, since their handlers may run on when their
// connection is closed. They may take half of the budget, whatever connections hold.
//
// An account that grows or shrinks moves between classes of sizes, each twice as large as the one
// before: finding the largest costs the same for any number of connections, and is right within a
// factor of two. Within a class the account that entered first is evicted first.
//
// Not thread-safe, never suspends. Accounts that outlive it count nothing any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corolane::net {

class ByteBudget {
 public:
  class Account;

  // Holds something for which a connection has an account.
  class Share;

  struct Statistics {
    std::size_t bytes = 0;  // Held now.
    std::size_t bytes_max = 0;
    std::uint64_t evicted_count = 0;  // Connections that were closed for what they held.
    std::uint64_t refused_count = 0;  // Calls of take() that failed.
  };

  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  ~ByteBudget();
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // Takes effect when something is held or taken the next time.
  void set_bytes_max(std::size_t bytes_max) { bytes_max_ = bytes_max; }

  bool is_tight() const { return bytes_ > bytes_max_ - bytes_max_ / 4; }
  // Much is still held by connections that are evicted and close at the end of the turn: no more is
  // read in this turn.
  bool waits_for_evicted() const { return evicted_bytes_ > bytes_max_ / 16; }
  // Takes bytes for a request. False, and nothing is taken, when all requests together would take
  // more than half of the budget. May call evict() of any account.
  bool take(std::size_t bytes);
  void give_back(std::size_t bytes) {
    bytes_ -= bytes;
    request_bytes_ -= bytes;
  }

  Statistics statistics() const;

 private:
  // Closing a smaller account would not help.
  static constexpr std::size_t least_evicted_bytes = 1024;

  void set(Account& account, std::size_t bytes);
  void enter_class(Account& account, std::size_t index);
  void leave_class(Account& account);
  void evict_largest();

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::size_t request_bytes_ = 0;  // Among them.
  std::size_t evicted_bytes_ = 0;  // Not among them: of accounts that are evicted but not closed.
  std::uint64_t evicted_count_ = 0;
  std::uint64_t refused_count_ = 0;
  struct Class {
    Account* first = nullptr;
    Account* last = nullptr;
  };
  // By the number of bits of the size; behind them, those that are evicted.
  static constexpr std::size_t evicted_class = 65;
  std::array<Class, evicted_class + 1> classes_;
};

// Counts what one connection holds. A default one belongs to no budget and counts nothing.
class ByteBudget::Account {
 public:
  class Owner {
   public:
    // Closes the connection, and the account, but not in this call: the owner does it later in the
    // same turn. Its bytes do not count from now on.
    virtual void evict() = 0;

   protected:
    ~Owner() = default;
  };

  Account() = default;
  ~Account() { close(); }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // Call it once, before anything is held. `owner` outlives it, or its close().
  void open(ByteBudget& budget, Owner& owner);
  // Gives everything back, and counts nothing any more.
  void close();

  std::size_t bytes() const { return bytes_; }
  // Those of its budget; false once it is closed, as it is when the budget is destroyed.
  bool is_tight() const { return budget_ != nullptr && budget_->is_tight(); }
  bool waits_for_evicted() const { return budget_ != nullptr && budget_->waits_for_evicted(); }

 private:
  friend class ByteBudget;

  ByteBudget* budget_ = nullptr;
  Owner* owner_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t class_ = 0;
  Account* before_ = nullptr;
  Account* behind_ = nullptr;
};

// The buffers of a stream hold one share of its account, its reader another one.
class ByteBudget::Share {
 public:
  // Null: counts nothing. `account` outlives it.
  explicit Share(Account* account) : account_(account) {}
  ~Share() { set(0); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // Says how many bytes it holds now. May call evict() of any account.
  void set(std::size_t bytes) {
    if (bytes != bytes_) change(bytes);
  }

 private:
  void change(std::size_t bytes);

  Account* account_;
  std::size_t bytes_ = 0;
};

}  // namespace corolane::net
