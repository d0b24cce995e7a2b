// SPDX-License-Identifier: MIT
// The object of a user: its sessions, and what is kept for it (user.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "framework/edge/detail/session_exchange.h"
#include "framework/edge/user.corolane.h"
#include "framework/edge/user.h"

namespace corolane::framework::detail {

class UserSessions final : public UserObject {
 public:
  // `exchange` is that of its shard, and outlives it.
  UserSessions(const UserOptions& options, SessionExchange& exchange);

  Result<SessionWelcome> begin(const SessionPlace& place, rpc::Context& context) override;
  Result<google::protobuf::Empty> announce(const SessionAnnouncement& announcement,
                                           rpc::Context& context) override;
  Result<google::protobuf::Empty> end(const SessionPlace& place, rpc::Context& context) override;
  Result<google::protobuf::Empty> acknowledge(const KeptThrough& through,
                                              rpc::Context& context) override;
  Result<google::protobuf::Empty> push(const UserPush& push, rpc::Context& context) override;
  Result<google::protobuf::Empty> push_for_good(const UserPush& push,
                                                rpc::Context& context) override;
  Result<google::protobuf::Empty> kick(const SessionKick& kick, rpc::Context& context) override;
  Result<UserView> look(const LookAtUser& request, rpc::Context& context) const override;

  // A former owner may have left before it could deliver what it has kept.
  Result<void> on_activate() override {
    try_again_later();
    return {};
  }
  Result<void> on_reminder(const Reminder& reminder) override;
  void on_deactivate() override;

 private:
  // The place in the state of a session; -1: it is not there.
  int index_of(std::uint64_t number) const;
  void add(const SessionPlace& place);
  std::size_t confirmed_count() const;
  // Makes the session one of those that the user may have, in place of the earliest. Fails with
  // not_found when all began later, and with unavailable when it cannot be reached.
  Result<void> confirm(std::uint64_t number, Deadline deadline);
  void forget(std::uint64_t number);
  // Drops what all sessions have acknowledged.
  void drop_acknowledged();
  Result<void> send_away(const SessionPlace& place, const SessionKick& kick, Deadline deadline);
  // Pushes to all sessions what they lack of what is kept, and then `push`, if it is not null.
  // Forgets sessions that are gone. False when no session has it. Fails when none has it and one
  // could not be reached.
  Result<bool> deliver(const UserPush* push, Deadline deadline);
  SessionVisit visit_of(const UserDevice& device, const UserPush* push);
  // After the visit of a session: whether that has it.
  bool note(const UserDevice& device, const SessionVisit& visit,
            const Result<SessionExchange::Reached>& reached, std::optional<Error>& failure);
  // Delivers later what some session lacks of what is kept.
  void try_again_later();
  // Wakes the next owner for that, if this one does not live to deliver it.
  void remind_in(std::chrono::milliseconds delay);
  bool lacks_anything() const;
  Result<void> keep(const UserPush& push);
  std::int64_t time() const;

  const UserOptions options_;
  SessionExchange& exchange_;
  // Stamps its deliveries, as long as it is active.
  const std::uint64_t source_;
  std::uint64_t sequence_ = 0;
  // By number of the session: the last of the kept pushes that it has surely got.
  std::unordered_map<std::uint64_t, std::uint64_t> reached_;
  bool has_unsaved_kept_ = false;
  bool will_try_again_ = false;
};

}  // namespace corolane::framework::detail
