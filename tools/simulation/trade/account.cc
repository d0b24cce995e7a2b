// SPDX-License-Identifier: MIT
#include "tools/simulation/trade/account.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "coroutine/base/try.h"
#include "coroutine/task.h"

namespace corolane::sim {
namespace {

// Long enough for a fence to pass now and then.
constexpr Duration time_to_think = std::chrono::milliseconds(50);
constexpr Duration time_to_travel = std::chrono::milliseconds(800);

}  // namespace

Result<AccountReply> Account::pay(const PayRequest& request, rpc::Context&) {
  const auto amount = static_cast<std::int64_t>(request.amount());
  if (request.to() == id() || amount <= 0) {
    return Error(Code::invalid_argument, "an account pays a positive amount to another account");
  }
  change().set_change(state().change() - amount);
  change().set_count(state().count() + 1);
  Transfer transfer;
  transfer.set_from(id());
  transfer.set_amount(request.amount());
  COROLANE_TRY(AccountClient(outbox(), request.to()).receive(transfer));
  // What has been done so far is undone.
  if (first_gold + state().change() < 0) {
    return Error(Code::failed_precondition, "the account has too little gold");
  }
  return reply();
}

Result<google::protobuf::Empty> Account::pay_later(const PayRequest& request, rpc::Context&) {
  COROLANE_TRY(coroutine::sleep_for(time_to_think));
  COROLANE_TRY(outside([&] { return AccountClient(router(), request.to()).look({}); }));
  const auto amount = static_cast<std::int64_t>(request.amount());
  if (request.to() == id() || first_gold + state().change() < amount) {
    return Error(Code::failed_precondition, "the account has too little gold, or pays itself");
  }
  Transfer transfer;
  transfer.set_from(id());
  transfer.set_amount(request.amount());
  COROLANE_TRY(AccountClient(outbox(), request.to()).receive(transfer));
  change().set_change(state().change() - amount);
  return google::protobuf::Empty();
}

Result<AccountReply> Account::tip(const google::protobuf::Empty&, rpc::Context&) {
  change().set_tips(state().tips() + 1);
  change().set_count(state().count() + 1);
  return reply();
}

Result<AccountReply> Account::look(const google::protobuf::Empty&, rpc::Context&) const {
  return reply();
}

Result<AuditReply> Account::audit(const AuditRequest& request, rpc::Context&) const {
  AuditReply audit;
  audit.set_least_gold(std::numeric_limits<std::int64_t>::max());
  for (const std::string& account : request.accounts()) {
    COROLANE_TRY(const AccountReply seen, outside([&]() -> Result<AccountReply> {
                   COROLANE_TRY(coroutine::sleep_for(time_to_travel));
                   return AccountClient(router(), account).look({});
                 }));
    audit.set_least_gold(std::min(audit.least_gold(), seen.gold()));
  }
  return audit;
}

Result<google::protobuf::Empty> Account::receive(const Transfer& transfer, rpc::Context&) {
  change().set_change(state().change() + static_cast<std::int64_t>(transfer.amount()));
  return google::protobuf::Empty();
}

AccountReply Account::reply() const {
  AccountReply reply;
  reply.set_gold(first_gold + state().change());
  reply.set_count(state().count());
  reply.set_tips(state().tips());
  return reply;
}

}  // namespace corolane::sim
