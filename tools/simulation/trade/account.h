// SPDX-License-Identifier: MIT
// The object of trade.proto: its payments leave through its outbox.
#pragma once

#include "tools/simulation/trade/trade.corolane.h"

namespace corolane::sim {

class Account : public AccountObject {
 public:
  // The initial gold of each account.
  static constexpr std::int64_t first_gold = 200;

  Result<AccountReply> pay(const PayRequest& request, rpc::Context& context) override;
  Result<google::protobuf::Empty> pay_later(const PayRequest& request,
                                            rpc::Context& context) override;
  Result<AccountReply> tip(const google::protobuf::Empty& request, rpc::Context& context) override;
  Result<AccountReply> look(const google::protobuf::Empty& request,
                            rpc::Context& context) const override;
  Result<AuditReply> audit(const AuditRequest& request, rpc::Context& context) const override;
  Result<google::protobuf::Empty> receive(const Transfer& transfer, rpc::Context& context) override;

 private:
  AccountReply reply() const;
};

}  // namespace corolane::sim
