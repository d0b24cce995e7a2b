// SPDX-License-Identifier: MIT
#include "framework/edge/detail/user_sessions.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/sync/for_each.h"
#include "net/crypto.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using google::protobuf::Empty;

// How long the turn of a user is held by the sessions that it visits.
constexpr Duration visit_time_max = 1s;

// A session that could not be reached for so long is given up: its node has had the time to come
// back, and its client to resume elsewhere. If it is alive after all it announces itself.
constexpr Duration silence_max = 2min;

constexpr std::chrono::milliseconds retry_interval = 1s;

// How soon the next owner delivers what its predecessor could not, when that has crashed.
constexpr std::chrono::milliseconds wake_delay = 5s;
constexpr std::string_view kept_reminder = "kept pushes";

// Sessions whose clients have not been told of them.
constexpr std::size_t unconfirmed_count_max = 4;

// The memory that a kept push takes beside its message.
constexpr std::size_t kept_overhead_bytes = 32;

std::vector<UserDevice> devices_of(const UserState& state) {
  return {state.devices().begin(), state.devices().end()};
}

Error has_other_sessions() { return {Code::not_found, "the user has other sessions by now"}; }

Deadline visit_deadline(Deadline deadline) {
  return earlier(deadline, Deadline::after(visit_time_max));
}

}  // namespace

UserSessions::UserSessions(const UserOptions& options, SessionExchange& exchange)
    : options_(options), exchange_(exchange), source_(net::seed_or_random(0)) {}

std::int64_t UserSessions::time() const {
  return std::chrono::floor<std::chrono::milliseconds>(wall_clock().now().time_since_epoch())
      .count();
}

int UserSessions::index_of(std::uint64_t number) const {
  for (int i = 0; i < state().devices_size(); ++i) {
    if (state().devices(i).place().number() == number) return i;
  }
  return -1;
}

void UserSessions::add(const SessionPlace& place) {
  UserState& changed = change();
  UserDevice& device = *changed.add_devices();
  *device.mutable_place() = place;
  device.set_acknowledged_number(changed.acknowledged_number());
  changed.set_seen_milliseconds(time());
}

void UserSessions::forget(std::uint64_t number) {
  const int index = index_of(number);
  reached_.erase(number);
  if (index < 0) return;
  change().mutable_devices()->DeleteSubrange(index, 1);
  drop_acknowledged();
}

void UserSessions::drop_acknowledged() {
  std::uint64_t through = state().acknowledged_number();
  for (const UserDevice& device : state().devices()) {
    through = std::min(through, device.acknowledged_number());
  }
  int count = 0;
  while (count < state().kept_size() && state().kept(count).number() <= through) ++count;
  if (count > 0) change().mutable_kept()->DeleteSubrange(0, count);
  if (state().kept_size() == 0) reminders().cancel(kept_reminder);
}

Result<void> UserSessions::send_away(const SessionPlace& place, const SessionKick& kick,
                                     Deadline deadline) {
  SessionVisit visit;
  visit.set_number(place.number());
  visit.set_epoch(epoch());
  *visit.mutable_kick() = kick;
  auto reached = exchange_.visit(place.home(), visit, visit_deadline(deadline));
  return reached ? Result<void>() : std::move(reached.error());
}

Result<SessionWelcome> UserSessions::begin(const SessionPlace& place, rpc::Context&) {
  forget(place.number());  // The call is repeated when its reply is lost.
  while (static_cast<std::size_t>(state().devices_size()) >=
         confirmed_count() + unconfirmed_count_max) {
    const auto earliest = std::ranges::find_if_not(state().devices(), &UserDevice::is_confirmed);
    forget(earliest->place().number());
  }
  add(place);
  SessionWelcome welcome;
  for (const KeptPush& kept : state().kept()) {
    if (kept.number() > state().acknowledged_number()) *welcome.add_kept() = kept;
  }
  welcome.set_mailbox(state().mailbox());
  return welcome;
}

std::size_t UserSessions::confirmed_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(state().devices(), &UserDevice::is_confirmed));
}

Result<void> UserSessions::confirm(std::uint64_t number, Deadline deadline) {
  if (confirmed_count() >= options_.devices_max) {
    // The announcement may be late, and the client elsewhere by now.
    SessionVisit look;
    look.set_number(number);
    const std::string home = state().devices(index_of(number)).place().home();
    auto reached = exchange_.visit(home, look, visit_deadline(deadline));
    if (!reached) return Error(Code::unavailable, reached.error().to_string());
    if (!reached->report.is_here()) {
      forget(number);
      return {};
    }
  }
  SessionKick kick;
  kick.set_code(static_cast<std::uint32_t>(logged_in_again().code()));
  kick.set_reason(logged_in_again().message());
  while (confirmed_count() >= options_.devices_max) {
    const SessionPlace earliest =
        std::ranges::find_if(state().devices(), &UserDevice::is_confirmed)->place();
    // A later login has been confirmed before.
    if (index_of(earliest.number()) > index_of(number)) {
      forget(number);
      return has_other_sessions();
    }
    // One that cannot be reached is told when it announces itself.
    static_cast<void>(send_away(earliest, kick, deadline));
    forget(earliest.number());
  }
  change().mutable_devices(index_of(number))->set_is_confirmed(true);
  return {};
}

Result<Empty> UserSessions::announce(const SessionAnnouncement& announcement,
                                     rpc::Context& context) {
  const SessionPlace& place = announcement.place();
  const int index = index_of(place.number());
  if (index < 0) {
    if (!announcement.is_new() && confirmed_count() >= options_.devices_max) {
      return has_other_sessions();
    }
    // It was given up, and may have missed pushes, or began while no user could be reached.
    add(place);
    change().mutable_devices(index_of(place.number()))->set_is_behind(!announcement.is_new());
  } else if (state().devices(index).place().move_count() < place.move_count()) {
    *change().mutable_devices(index)->mutable_place() = place;
    change().set_seen_milliseconds(time());
  }
  if (!state().devices(index_of(place.number())).is_confirmed()) {
    if (auto confirmed = confirm(place.number(), context.deadline()); !confirmed) {
      return confirmed.error();
    }
  }
  if (lacks_anything()) static_cast<void>(deliver(nullptr, context.deadline()));
  return Empty();
}

Result<Empty> UserSessions::end(const SessionPlace& place, rpc::Context&) {
  if (index_of(place.number()) < 0) return Empty();
  forget(place.number());
  change().set_seen_milliseconds(time());
  return Empty();
}

Result<Empty> UserSessions::acknowledge(const KeptThrough& through, rpc::Context&) {
  if (state().acknowledged_number() < through.number()) {
    change().set_acknowledged_number(through.number());
  }
  const int index = index_of(through.session());
  if (index >= 0 && state().devices(index).acknowledged_number() < through.number()) {
    change().mutable_devices(index)->set_acknowledged_number(through.number());
  }
  drop_acknowledged();
  return Empty();
}

SessionVisit UserSessions::visit_of(const UserDevice& device, const UserPush* push) {
  const std::uint64_t number = device.place().number();
  SessionVisit visit;
  visit.set_number(number);
  visit.set_epoch(epoch());
  SessionDelivery& delivery = *visit.mutable_delivery();
  delivery.set_source(source_);
  delivery.set_sequence(sequence_);
  delivery.set_is_behind(device.is_behind());
  delivery.set_mailbox(state().mailbox());
  if (push != nullptr) *delivery.mutable_push() = *push;
  const auto reached = reached_.find(number);
  const std::uint64_t known = reached == reached_.end() ? 0 : reached->second;
  for (const KeptPush& kept : state().kept()) {
    if (kept.number() > std::max(known, device.acknowledged_number())) *delivery.add_kept() = kept;
  }
  return visit;
}

bool UserSessions::note(const UserDevice& device, const SessionVisit& visit,
                        const Result<SessionExchange::Reached>& reached,
                        std::optional<Error>& failure) {
  const std::uint64_t number = device.place().number();
  const int index = index_of(number);
  if (reached && !reached->report.is_here()) {
    forget(number);
    return false;
  }
  if (!reached) {
    failure = reached.error();
    const std::int64_t since = device.silent_since_milliseconds();
    if (since == 0) {
      change().mutable_devices(index)->set_silent_since_milliseconds(time());
    } else if (std::chrono::milliseconds(time() - since) > silence_max) {
      forget(number);
    }
    return false;
  }
  if (device.silent_since_milliseconds() != 0) {
    change().mutable_devices(index)->clear_silent_since_milliseconds();
  }
  if (reached->home != device.place().home()) {
    change().mutable_devices(index)->mutable_place()->set_home(reached->home);
  }
  if (reached->report.refused_code() != 0) {
    failure =
        Error(code_from_number(reached->report.refused_code()), reached->report.refused_reason());
    return false;
  }
  const SessionDelivery& delivery = visit.delivery();
  if (delivery.kept_size() > 0) {
    reached_[number] = delivery.kept(delivery.kept_size() - 1).number();
  }
  if (device.is_behind()) change().mutable_devices(index)->set_is_behind(false);
  return true;
}

Result<bool> UserSessions::deliver(const UserPush* push, Deadline deadline) {
  // A push is stored before a client may see it: its number is not used again.
  if (has_unsaved_kept_) {
    if (auto saved = save(); !saved) return saved.error();
    has_unsaved_kept_ = false;
  }
  ++sequence_;
  const Deadline reached_by = visit_deadline(deadline);
  struct Visiting {
    UserDevice device;
    SessionVisit visit;
    Result<SessionExchange::Reached> reached = Error(Code::unavailable, "it was not visited");
  };
  std::vector<Visiting> all;
  for (const UserDevice& device : state().devices()) {
    all.push_back({.device = device, .visit = visit_of(device, push)});
  }
  const auto visit_one = [&](Visiting& one) -> Result<void> {
    one.reached = exchange_.visit(one.device.place().home(), one.visit, reached_by);
    return {};
  };
  if (all.size() == 1) {
    static_cast<void>(visit_one(all.front()));
  } else if (!all.empty()) {
    // Side by side: one that is silent holds up no other.
    static_cast<void>(coroutine::for_each(all, {.concurrency = all.size(), .name = "visit session"},
                                          visit_one, Deadline::never()));
  }
  bool is_taken = false;
  std::optional<Error> failure;
  std::vector<std::uint64_t> missed;
  for (const Visiting& one : all) {
    const bool has_it = note(one.device, one.visit, one.reached, failure);
    is_taken = is_taken || has_it;
    if (!has_it) missed.push_back(one.device.place().number());
  }
  for (const std::uint64_t number : missed) {
    const int index = index_of(number);
    if (is_taken && push != nullptr && index >= 0) {
      change().mutable_devices(index)->set_is_behind(true);
    }
  }
  try_again_later();
  if (!is_taken && failure) return *std::move(failure);
  return is_taken;
}

bool UserSessions::lacks_anything() const {
  if (state().kept_size() == 0) return false;
  const std::uint64_t last = state().kept(state().kept_size() - 1).number();
  return std::ranges::any_of(state().devices(), [&](const UserDevice& device) {
    const auto reached = reached_.find(device.place().number());
    return device.acknowledged_number() < last &&
           (reached == reached_.end() || reached->second < last);
  });
}

void UserSessions::remind_in(std::chrono::milliseconds delay) {
  static_cast<void>(reminders().at(kept_reminder, wall_clock().now() + delay));
}

Result<void> UserSessions::on_reminder(const Reminder&) {
  reminders().cancel(kept_reminder);
  if (lacks_anything()) static_cast<void>(deliver(nullptr, Deadline::after(visit_time_max)));
  return {};
}

// One that is idle comes back as well, so not at once: its session may be out of reach for long.
void UserSessions::on_deactivate() {
  if (lacks_anything()) remind_in(retry_interval);
}

void UserSessions::try_again_later() {
  if (!lacks_anything()) return;
  if (!reminders().find(kept_reminder)) remind_in(wake_delay);
  if (will_try_again_) return;
  auto set = timers().after(retry_interval,
                            [this] {
                              will_try_again_ = false;
                              if (lacks_anything())
                                static_cast<void>(deliver(nullptr, Deadline::never()));
                            },
                            {.name = "kept pushes"});
  will_try_again_ = set.has_value();
}

Result<void> UserSessions::keep(const UserPush& push) {
  std::size_t bytes = push.message().size() + kept_overhead_bytes;
  for (const KeptPush& kept : state().kept()) bytes += kept.message().size() + kept_overhead_bytes;
  if (bytes > options_.kept_bytes_max ||
      static_cast<std::size_t>(state().kept_size()) >= options_.kept_count_max) {
    return Error(Code::resource_exhausted, "too much is kept for this user already: " +
                                               std::to_string(state().kept_size()) + " messages");
  }
  UserState& changed = change();
  if (changed.mailbox() == 0) changed.set_mailbox(net::seed_or_random(0));
  KeptPush& kept = *changed.add_kept();
  kept.set_number(changed.kept_number() + 1);
  kept.set_type(push.type());
  kept.set_message(push.message());
  changed.set_kept_number(kept.number());
  has_unsaved_kept_ = true;
  return {};
}

Result<Empty> UserSessions::push(const UserPush& push, rpc::Context& context) {
  auto delivered = deliver(&push, context.deadline());
  if (!delivered) return delivered.error();
  if (*delivered) return Empty();
  if (!options_.keeps_pushes) return Error(Code::not_found, "user " + id() + " has no session");
  if (auto kept = keep(push); !kept) return kept.error();
  return Empty();
}

Result<Empty> UserSessions::push_for_good(const UserPush& push, rpc::Context& context) {
  if (auto kept = keep(push); !kept) return kept.error();
  if (lacks_anything()) remind_in(wake_delay);
  // No client sees it before it is stored: it would come again after a crash.
  if (auto saved = save(); !saved) return saved.error();
  has_unsaved_kept_ = false;
  static_cast<void>(deliver(nullptr, context.deadline()));
  return Empty();
}

Result<Empty> UserSessions::kick(const SessionKick& kick, rpc::Context& context) {
  const Deadline reached_by = visit_deadline(context.deadline());
  std::optional<Error> failure;
  for (const UserDevice& device : devices_of(state())) {
    if (auto sent = send_away(device.place(), kick, reached_by); !sent) {
      failure = sent.error();
    } else {
      forget(device.place().number());
      change().set_seen_milliseconds(time());
    }
  }
  if (failure) return *std::move(failure);
  return Empty();
}

Result<UserView> UserSessions::look(const LookAtUser&, rpc::Context& context) const {
  UserView view;
  view.set_seen_milliseconds(state().seen_milliseconds());
  view.set_kept_count(static_cast<std::uint32_t>(state().kept_size()));
  const Deadline reached_by = visit_deadline(context.deadline());
  for (const UserDevice& device : devices_of(state())) {
    SessionVisit visit;
    visit.set_number(device.place().number());
    auto reached = exchange_.visit(device.place().home(), visit, reached_by);
    if (!reached) view.set_unreachable_count(view.unreachable_count() + 1);
    if (!reached || !reached->report.is_here()) continue;
    UserSession& session = *view.add_sessions();
    session.set_number(device.place().number());
    *session.mutable_report() = reached->report;
  }
  return view;
}

}  // namespace corolane::framework::detail
