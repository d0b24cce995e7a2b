// SPDX-License-Identifier: MIT
// The object of trade.proto: a saga with an idempotent transfer record.
#pragma once

#include "tools/simulation/trade/trade.corolane.h"

namespace corolane::sim {

class Account : public AccountObject {
 public:
  // The initial gold of each account.
  static constexpr std::int64_t first_gold = 200;

  Result<AccountReply> pay(const PayRequest& request, rpc::Context& context) override;
  Result<AccountReply> tip(const google::protobuf::Empty& request, rpc::Context& context) override;
  Result<AccountReply> look(const google::protobuf::Empty& request,
                            rpc::Context& context) const override;
  Result<google::protobuf::Empty> receive(const Transfer& transfer, rpc::Context& context) override;
  Result<void> deliver(const google::protobuf::Empty& request, rpc::Context& context) override;

  Result<void> on_activate() override;
  Result<void> on_reminder(const framework::Reminder& reminder) override;

 private:
  AccountReply reply() const;
  void deliver_soon() const;
  Result<void> deliver_first(Deadline deadline);

  bool is_delivering_ = false;
};

// Whether `receiver` has the gold of `transfer`.
bool has_arrived(const AccountState& receiver, const Transfer& transfer);

}  // namespace corolane::sim
