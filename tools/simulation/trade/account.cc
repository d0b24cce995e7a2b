// SPDX-License-Identifier: MIT
// Pays at once, and retries the delivery until it succeeds.
#include "tools/simulation/trade/account.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

// Covers an account whose node ends before it has delivered.
constexpr std::chrono::milliseconds deliver_again_after = 5s;
constexpr const char* deliver_reminder = "deliver";

}  // namespace

Result<void> Account::on_activate() {
  if (!state().on_the_way().empty()) deliver_soon();
  return {};
}

Result<void> Account::on_reminder(const framework::Reminder&) {
  deliver_soon();
  return {};
}

Result<AccountReply> Account::pay(const PayRequest& request, rpc::Context&) {
  const auto amount = static_cast<std::int64_t>(request.amount());
  if (request.to() == id() || amount <= 0) {
    return Error(Code::invalid_argument, "an account pays a positive amount to another account");
  }
  if (first_gold + state().change() < amount) {
    return Error(Code::failed_precondition, "the account has too little gold");
  }
  AccountState& changed = change();
  changed.set_change(changed.change() - amount);
  changed.set_count(changed.count() + 1);
  changed.set_last_transfer(changed.last_transfer() + 1);
  Transfer& transfer = *changed.add_on_the_way();
  transfer.set_from(id());
  transfer.set_to(request.to());
  transfer.set_number(changed.last_transfer());
  transfer.set_amount(request.amount());
  static_cast<void>(reminders().every(deliver_reminder, wall_clock().now() + deliver_again_after,
                                      deliver_again_after));
  deliver_soon();
  return reply();
}

Result<AccountReply> Account::tip(const google::protobuf::Empty&, rpc::Context&) {
  change().set_tips(state().tips() + 1);
  change().set_count(state().count() + 1);
  return reply();
}

Result<AccountReply> Account::look(const google::protobuf::Empty&, rpc::Context&) const {
  return reply();
}

Result<google::protobuf::Empty> Account::receive(const Transfer& transfer, rpc::Context&) {
  if (has_arrived(state(), transfer)) return google::protobuf::Empty();
  AccountState& changed = change();
  changed.set_change(changed.change() + static_cast<std::int64_t>(transfer.amount()));
  auto& receipts = *changed.mutable_receipts();
  auto receipt = std::ranges::find(receipts, transfer.from(), &Receipt::from);
  if (receipt == receipts.end()) {
    receipts.Add()->set_from(transfer.from());
    receipt = std::prev(receipts.end());
  }
  receipt->set_number(transfer.number());
  return google::protobuf::Empty();
}

bool has_arrived(const AccountState& receiver, const Transfer& transfer) {
  return std::ranges::any_of(receiver.receipts(), [&](const Receipt& receipt) {
    return receipt.from() == transfer.from() && transfer.number() <= receipt.number();
  });
}

Result<void> Account::deliver(const google::protobuf::Empty&, rpc::Context& context) {
  if (is_delivering_) return {};
  is_delivering_ = true;
  Result<void> delivered;
  while (delivered && !state().on_the_way().empty()) {
    delivered = deliver_first(context.deadline());
  }
  is_delivering_ = false;
  if (delivered) reminders().cancel(deliver_reminder);
  return delivered;
}

// Other calls run meanwhile: the receiver may be delivering to this account.
Result<void> Account::deliver_first(Deadline deadline) {
  const Transfer transfer = state().on_the_way(0);
  // The payment must be stored before its delivery.
  if (auto saved = save(); !saved) return saved;
  coroutine::Event arrived{"the arrival of gold"};
  auto call = coroutine::spawn("deliver", [&]() -> Result<void> {
    auto received = AccountClient(router(), transfer.to()).receive(transfer);
    arrived.set();
    if (!received) return received.error();
    return {};
  });
  if (auto waited = wait_for(arrived, deadline); !waited) return waited;
  if (auto received = call.join(Deadline::never()); !received) return received;
  change().mutable_on_the_way()->DeleteSubrange(0, 1);
  return save();
}

AccountReply Account::reply() const {
  AccountReply reply;
  reply.set_gold(first_gold + state().change());
  reply.set_count(state().count());
  reply.set_tips(state().tips());
  return reply;
}

void Account::deliver_soon() const {
  static_cast<void>(AccountClient(router(), id()).deliver(google::protobuf::Empty()));
}

}  // namespace corolane::sim
