// SPDX-License-Identifier: MIT
#include "net/byte_budget.h"

#include <bit>
#include <utility>

namespace corolane::net {

namespace {

std::size_t class_of(std::size_t bytes) { return static_cast<std::size_t>(std::bit_width(bytes)); }

}  // namespace

ByteBudget::~ByteBudget() {
  for (const Class& each : classes_) {
    while (each.first != nullptr) each.first->close();
  }
}

bool ByteBudget::take(std::size_t bytes) {
  const std::size_t limit = bytes_max_ / 2;
  if (request_bytes_ > limit || bytes > limit - request_bytes_) {
    ++refused_count_;
    return false;
  }
  request_bytes_ += bytes;
  bytes_ += bytes;
  if (bytes_ > bytes_max_) evict_largest();
  return true;
}

ByteBudget::Statistics ByteBudget::statistics() const {
  return {.bytes = bytes_,
          .bytes_max = bytes_max_,
          .evicted_count = evicted_count_,
          .refused_count = refused_count_};
}

void ByteBudget::set(Account& account, std::size_t bytes) {
  if (account.class_ == evicted_class) {
    evicted_bytes_ = evicted_bytes_ - account.bytes_ + bytes;
    account.bytes_ = bytes;
    return;
  }
  bytes_ = bytes_ - account.bytes_ + bytes;
  account.bytes_ = bytes;
  if (class_of(bytes) != account.class_) {
    leave_class(account);
    enter_class(account, class_of(bytes));
  }
  if (bytes_ > bytes_max_) evict_largest();
}

void ByteBudget::enter_class(Account& account, std::size_t index) {
  account.class_ = index;
  Class& entered = classes_[index];
  account.before_ = std::exchange(entered.last, &account);
  (account.before_ == nullptr ? entered.first : account.before_->behind_) = &account;
}

void ByteBudget::leave_class(Account& account) {
  Class& left = classes_[account.class_];
  (account.before_ == nullptr ? left.first : account.before_->behind_) = account.behind_;
  (account.behind_ == nullptr ? left.last : account.behind_->before_) = account.before_;
  account.before_ = account.behind_ = nullptr;
}

void ByteBudget::evict_largest() {
  std::size_t index = evicted_class - 1;
  while (bytes_ > bytes_max_ && index >= class_of(least_evicted_bytes)) {
    Account* const largest = classes_[index].first;
    if (largest == nullptr) {
      --index;
      continue;
    }
    ++evicted_count_;
    bytes_ -= largest->bytes_;
    evicted_bytes_ += largest->bytes_;
    leave_class(*largest);
    enter_class(*largest, evicted_class);
    largest->owner_->evict();
  }
}

void ByteBudget::Account::open(ByteBudget& budget, Owner& owner) {
  budget_ = &budget;
  owner_ = &owner;
  budget.enter_class(*this, class_of(0));
}

void ByteBudget::Account::close() {
  if (budget_ == nullptr) return;
  (class_ == evicted_class ? budget_->evicted_bytes_ : budget_->bytes_) -= std::exchange(bytes_, 0);
  std::exchange(budget_, nullptr)->leave_class(*this);
}

// Nothing is counted for an account that was closed meanwhile.
void ByteBudget::Share::change(std::size_t bytes) {
  const std::size_t before = std::exchange(bytes_, bytes);
  if (account_ == nullptr || account_->budget_ == nullptr) return;
  account_->budget_->set(*account_, account_->bytes_ - before + bytes);
}

}  // namespace corolane::net
