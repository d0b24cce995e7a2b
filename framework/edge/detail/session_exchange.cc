// SPDX-License-Identifier: MIT
#include "framework/edge/detail/session_exchange.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "coroutine/call_on.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/cluster/cluster_view.h"
#include "framework/edge/detail/publication_pushes.h"
#include "framework/edge/user.corolane.h"
#include "framework/routing/detail/object_router.h"
#include "framework/wire/detail/call_chain.h"
#include "net/crypto.h"
#include "rpc/server/server.h"
#include "rpc/session.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// How long a login waits for its user: with the time for its session to move, less than a server
// waits for a hello.
constexpr Duration begin_time_max = 2s;

// How long a call lasts that tells a user what has happened, how many there are at the same time,
// and when one that has failed is repeated.
constexpr Duration tell_time_max = 5s;
constexpr std::size_t teller_count_max = 64;
constexpr Duration tell_again_interval = 500ms;
// The end of a session need not be told: its user finds nothing when it looks for it.
constexpr int tell_end_count_max = 20;

constexpr Duration announcement_interval = 2min;

// How often a visit follows a session that moves. A session that has left its home may not have
// arrived at the next one.
constexpr int hop_count_max = 8;
constexpr Duration arrival_interval = 5ms;

// Clients see the home of their session, so it tells them no names.
constexpr std::size_t digest_size = 8;
constexpr std::size_t home_size = digest_size + 2;

std::string digest_of(std::string_view node) {
  const net::Digest digest = net::hmac_sha256("corolane home of sessions", {node});
  return std::string(reinterpret_cast<const char*>(digest.data()), digest_size);
}

// The shard, little-endian, behind the digest of the node.
std::size_t shard_of(std::string_view home) {
  const auto byte = [home](std::size_t i) { return static_cast<unsigned char>(home[i]); };
  return byte(digest_size) | static_cast<std::size_t>(byte(digest_size + 1)) << 8;
}

Error no_such_home() { return Error(Code::not_found, "no node has the home of that session"); }

Result<void> deliver(rpc::Session& session, std::uint64_t epoch, const SessionDelivery& delivery) {
  const rpc::Session::Stamp stamp{
      .epoch = epoch, .source = delivery.source(), .sequence = delivery.sequence()};
  const bool is_new = !session.has_noted(stamp);
  if (is_new && delivery.is_behind()) {
    if (auto lost = session.lose(); !lost) return lost;
  }
  for (const KeptPush& kept : delivery.kept()) {
    auto pushed = session.push_kept(delivery.mailbox(), kept.number(), kept.type(), kept.message());
    if (!pushed) return pushed;
  }
  if (is_new && delivery.has_push()) {
    auto pushed = session.push(delivery.push().type(), delivery.push().message());
    if (!pushed) return pushed;
  }
  session.note(stamp);
  return {};
}

// More would not be read.
constexpr int call_count_max = 64;

// Such as `package.Game/Move("7")`, or "lock"; empty while it waits for nothing.
std::string wait_of(const rpc::Session::RunningCall& call, const ObjectRouter& router) {
  const CallChain::OutCall* const out = router.call_of(call.task, call.method, call.object);
  if (out != nullptr) return text_of_calls(nullptr, out->method().full_name, out->id());
  const auto task = coroutine::Scheduler::current().task(call.task);
  return task ? task->waiting_for : std::string();
}

void describe(const rpc::Session& session, const ObjectRouter& router, SessionReport& report) {
  report.set_peer(session.peer());
  for (const std::string& record : session.followed()) {
    FollowRecord followed;
    if (!followed.ParseFromString(record)) continue;
    followed.clear_epoch();
    followed.clear_sequence();
    *report.add_follows() = std::move(followed);
  }
  session.see_calls([&](const rpc::Session::RunningCall& call) {
    if (report.calls_size() == call_count_max) return;
    SessionCall& seen = *report.add_calls();
    seen.set_method(std::string(call.method));
    seen.set_object(std::string(call.object));
    const auto age = std::chrono::floor<std::chrono::milliseconds>(call.age);
    seen.set_milliseconds(static_cast<std::uint64_t>(age.count()));
    seen.set_waits_for(wait_of(call, router));
  });
}

// On the shard of the server.
Result<SessionReport> visit_here(rpc::Server& server, const ObjectRouter& router,
                                 const SessionVisit& visit) {
  SessionReport report;
  const std::shared_ptr<rpc::Session> session = server.find_session(visit.number());
  if (session == nullptr) {
    report.set_moved_to(server.next_home_of_session(visit.number()));
    return report;
  }
  const bool has_order = visit.order_case() != SessionVisit::ORDER_NOT_SET;
  if (has_order && session->is_fenced(visit.epoch())) {
    return Error(Code::aborted, "a later owner of this user has visited the session")
        .with_not_executed();
  }
  if (visit.has_delivery()) {
    auto delivered = deliver(*session, visit.epoch(), visit.delivery());
    if (!delivered) {
      report.set_refused_code(static_cast<std::uint32_t>(delivered.error().code()));
      report.set_refused_reason(delivered.error().message());
    }
  }
  const rpc::Session::Statistics statistics = session->statistics();
  report.set_is_here(true);
  report.set_is_connected(session->is_connected());
  report.set_ring_count(static_cast<std::uint32_t>(statistics.ring_count));
  report.set_pushed_count(statistics.pushed_count);
  report.set_lost_count(statistics.lost_count);
  report.set_group_count(static_cast<std::uint32_t>(statistics.group_count));
  const auto age = std::chrono::floor<std::chrono::milliseconds>(now() - statistics.begun_at);
  report.set_age_milliseconds(static_cast<std::uint64_t>(age.count()));
  if (!has_order) describe(*session, router, report);
  if (visit.has_kick()) {
    session->kick(Error(code_from_number(visit.kick().code()), visit.kick().reason()));
  }
  return report;
}

}  // namespace

SessionExchange::SessionExchange(ObjectRouter& router, std::string_view node, std::size_t shard)
    : router_(router),
      shard_(shard),
      node_digest_(digest_of(node)),
      home_(node_digest_ + static_cast<char>(shard) + static_cast<char>(shard >> 8)) {}

void SessionExchange::stop() {
  is_stopped_ = true;
  telling_again_.cancel();
  announcing_.cancel();
  incoming_.cancel_and_join();
  telling_.cancel_and_join();
}

Result<SessionExchange::Address> SessionExchange::find(const std::string& home) {
  if (home.size() != home_size) return no_such_home();
  const std::string digest = home.substr(0, digest_size);
  Address address{.shard = shard_of(home)};
  if (digest == node_digest_) {
    address.is_here = true;
    return address;
  }
  if (known_view_ != router_.view()) {
    known_view_ = router_.view();
    members_.clear();
    for (const Member& member : known_view_->members()) {
      if (member.shards.empty()) continue;
      // While a node replaces one of its name, both are there.
      const Member*& known = members_[digest_of(member.name)];
      if (known == nullptr || known->epoch < member.epoch) known = &member;
    }
  }
  const auto found = members_.find(digest);
  if (found != members_.end()) address.member = found->second;
  return address;
}

bool SessionExchange::has_other_nodes() const {
  if (router_.view() == nullptr) return false;
  return std::ranges::any_of(router_.view()->members(), [this](const Member& member) {
    return !member.is_draining && digest_of(member.name) != node_digest_;
  });
}

template <typename F>
std::invoke_result_t<F&, rpc::Server&> SessionExchange::at_shard(std::size_t shard, F work,
                                                                 Deadline deadline) {
  if (shard == shard_) return work(*server_);
  if (shard >= peers_.size()) return no_such_home();
  const Peer& peer = peers_[shard];
  return coroutine::call_on_or_leave(
      *peer.scheduler, "session of another shard",
      [server = peer.exchange->server_, work = std::move(work)]() mutable { return work(*server); },
      deadline, {.waited_for = "session of another shard", .group = &peer.exchange->incoming_});
}

Result<rpc::SessionAnswer> SessionExchange::take(const std::string& home,
                                                 const rpc::SessionClaim& claim,
                                                 Deadline deadline) {
  auto address = find(home);
  if (!address) return address.error();
  if (!address->is_here && address->member == nullptr) return no_such_home();
  if (address->is_here) return give_at(address->shard, claim, deadline);
  SessionQuestion question;
  question.set_shard(static_cast<std::uint32_t>(address->shard));
  *question.mutable_claim() = claim;
  // The connection that its calls of objects take.
  const Member& member = *address->member;
  const auto client = router_.client_of(member, shard_ % member.shards.size());
  return SessionsClient(*client).give(question, {.deadline = deadline});
}

Result<rpc::SessionAnswer> SessionExchange::give(const SessionQuestion& question,
                                                 rpc::Context& context) {
  return give_at(question.shard(), question.claim(), context.deadline());
}

Result<rpc::SessionAnswer> SessionExchange::give_at(std::size_t shard,
                                                    const rpc::SessionClaim& claim,
                                                    Deadline deadline) {
  const auto give = [claim, deadline](rpc::Server& server) -> Result<rpc::SessionAnswer> {
    return server.give_session(claim, deadline);
  };
  return at_shard(shard, give, deadline);
}

Result<SessionExchange::Reached> SessionExchange::visit(std::string home, SessionVisit& visit,
                                                        Deadline deadline) {
  int hop_count = 0;
  for (;;) {
    auto report = visit_at(home, visit, deadline);
    if (!report) return report.error();
    const bool has_moved = !report->moved_to().empty();
    // Where no other place has sent us, it has ended.
    if (report->is_here() || (!has_moved && hop_count == 0)) {
      return Reached{.report = *std::move(report), .home = home};
    }
    if (has_moved) {
      home = report->moved_to();
      if (++hop_count > hop_count_max) return Error(Code::aborted, "the session keeps moving");
      continue;
    }
    const Deadline next = Deadline::after(arrival_interval);
    if (deadline < next) return Error(Code::unavailable, "the session is on its way");
    if (auto slept = coroutine::sleep_until(next); !slept) return slept.error();
  }
}

Result<SessionReport> SessionExchange::visit_at(const std::string& home, SessionVisit& visit,
                                                Deadline deadline) {
  auto address = find(home);
  if (!address) return address.error();
  visit.set_shard(static_cast<std::uint32_t>(address->shard));
  if (address->is_here) return visit_shard(visit, deadline);
  if (address->member == nullptr) {
    return Error(Code::unavailable, "the node of the session is not in the cluster now")
        .with_not_executed();
  }
  const Member& member = *address->member;
  const auto client = router_.client_of(member, shard_ % member.shards.size());
  return SessionsClient(*client).visit(visit, {.deadline = deadline});
}

Result<SessionReport> SessionExchange::visit(const SessionVisit& visit, rpc::Context& context) {
  return visit_shard(visit, context.deadline());
}

Result<SessionReport> SessionExchange::visit_shard(const SessionVisit& visit, Deadline deadline) {
  if (visit.shard() == shard_) return visit_here(*server_, router_, visit);
  // A former process of this name had more shards.
  if (visit.shard() >= peers_.size()) return SessionReport();
  const ObjectRouter& router = peers_[visit.shard()].exchange->router_;
  const auto visit_there = [visit, &router](rpc::Server& server) {
    return visit_here(server, router, visit);
  };
  return at_shard(visit.shard(), visit_there, deadline);
}

bool SessionExchange::has_users() const {
  return expects_users_ ||
         (router_.view() != nullptr &&
          router_.view()->find_placement(UserObject::object_type().name) != nullptr);
}

// Nodes of an earlier build own some users, and host none.
bool SessionExchange::are_users_new() const {
  if (router_.view() == nullptr) return false;
  const auto* const group = router_.view()->find_group(UserObject::object_type().name);
  return group != nullptr && group->is_mixed;
}

SessionPlace SessionExchange::place_of(const rpc::Session& session) const {
  SessionPlace place;
  place.set_number(session.number());
  place.set_home(home_);
  place.set_move_count(session.move_count());
  return place;
}

Result<void> SessionExchange::begin(rpc::Session& session) {
  if (!has_users()) return {};
  auto welcome = UserClient(router_, session.principal().id)
                     .begin(place_of(session), {.deadline = Deadline::after(begin_time_max)});
  if (!welcome && are_users_new()) return {};
  if (!welcome) {
    return Error(Code::unavailable,
                 "the user of this client cannot be reached: " + welcome.error().to_string());
  }
  for (const KeptPush& kept : welcome->kept()) {
    auto pushed = session.push_kept(welcome->mailbox(), kept.number(), kept.type(), kept.message());
    if (!pushed) return pushed;
  }
  return {};
}

void SessionExchange::begun(const rpc::Session& session) {
  add_fact(
      {.kind = Fact::Kind::is_new, .user = session.principal().id, .place = place_of(session)});
  announce_later(session.number());
}

void SessionExchange::arrived(const rpc::Session& session) {
  add_fact(
      {.kind = Fact::Kind::is_here, .user = session.principal().id, .place = place_of(session)});
  announce_later(session.number());
}

void SessionExchange::ended(const rpc::Session& session, const Error&) {
  if (is_closed_) return;
  add_fact(
      {.kind = Fact::Kind::has_ended, .user = session.principal().id, .place = place_of(session)});
}

Result<std::unique_ptr<rpc::PushSource>> SessionExchange::follow_again(const std::string& record) {
  return PublicationPushes::make(router_, record);
}

void SessionExchange::acknowledged(const rpc::Session& session, std::uint64_t kept_number) {
  const std::string& user = session.principal().id;
  auto& of_user = acknowledged_[user];
  const bool is_first = of_user.empty();
  std::uint64_t& known = of_user[session.number()];
  known = std::max(known, kept_number);
  if (is_first) add_fact({.kind = Fact::Kind::has_kept, .user = user, .place = {}});
}

void SessionExchange::view_changed() {
  const std::uint64_t epoch = router_.view()->self_epoch();
  const bool has_joined_again = self_epoch_ != 0 && epoch != 0 && epoch != self_epoch_;
  if (epoch != 0) self_epoch_ = epoch;
  if (!has_joined_again || server_ == nullptr) return;
  server_->for_each_session([this](const rpc::Session& session) {
    // The others are announced when they have begun.
    if (session.principal().id.empty() || !session.has_begun()) return;
    add_fact(
        {.kind = Fact::Kind::is_here, .user = session.principal().id, .place = place_of(session)});
  });
}

void SessionExchange::announce_later(std::uint64_t session) {
  if (!announced_.insert(session).second) return;
  announcements_.push_back({.due = now() + announcement_interval, .session = session});
  if (!announcing_.is_armed() && !is_stopped_)
    announcing_.arm(Deadline::after(announcement_interval));
}

void SessionExchange::announce_due() {
  const TimePoint time = now();
  while (!announcements_.empty() && announcements_.front().due <= time) {
    const std::uint64_t number = announcements_.front().session;
    const auto session = server_->find_session(number);
    announcements_.pop_front();
    if (session == nullptr) {
      announced_.erase(number);
      continue;
    }
    add_fact(Fact::Kind::is_here, *session);
    announcements_.push_back({.due = time + announcement_interval, .session = number});
  }
  if (!announcements_.empty() && !is_stopped_)
    announcing_.arm(Deadline::after(announcements_.front().due - time));
}

void SessionExchange::add_fact(Fact::Kind kind, const rpc::Session& session) {
  add_fact({.kind = kind, .user = session.principal().id, .place = place_of(session)});
}

void SessionExchange::add_fact(Fact fact) {
  if (is_stopped_ || !has_users()) return;
  facts_.push_back(std::move(fact));
  tell_more();
}

void SessionExchange::tell_more() {
  for (Fact& fact : std::exchange(failed_facts_, {})) facts_.push_back(std::move(fact));
  if (is_stopped_ || facts_.empty() || teller_count_ >= teller_count_max) return;
  ++teller_count_;
  auto spawned = telling_.spawn("tell users of sessions", [this] { tell_all(); });
  if (spawned) return;
  --teller_count_;
  telling_again_.arm(Deadline::after(tell_again_interval));
}

void SessionExchange::tell_all() {
  while (!facts_.empty() && !is_stopped_) {
    Fact fact = std::move(facts_.front());
    facts_.pop_front();
    if (tell(fact)) continue;
    failed_facts_.push_back(std::move(fact));
    if (!telling_again_.is_armed() && !is_stopped_)
      telling_again_.arm(Deadline::after(tell_again_interval));
  }
  --teller_count_;
}

// Whether it need not be told again.
bool SessionExchange::tell(Fact& fact) {
  const rpc::CallOptions options{.deadline = Deadline::after(tell_time_max)};
  UserClient user(router_, fact.user);
  switch (fact.kind) {
    case Fact::Kind::is_new:
    case Fact::Kind::is_here: {
      if (server_->find_session(fact.place.number()) == nullptr) return true;
      SessionAnnouncement announcement;
      *announcement.mutable_place() = fact.place;
      announcement.set_is_new(fact.kind == Fact::Kind::is_new);
      auto told = user.announce(announcement, options);
      if (told) return true;
      const Error& error = told.error();
      if (error.code() != Code::not_found || !error.is_from_handler()) return false;
      if (auto session = server_->find_session(fact.place.number())) {
        session->kick(logged_in_again());
      }
      return true;
    }
    case Fact::Kind::has_ended:
      return user.end(fact.place, options) || ++fact.failed_count >= tell_end_count_max;
    case Fact::Kind::has_kept:
      return tell_kept(fact.user);
  }
  return true;
}

bool SessionExchange::tell_kept(const std::string& user) {
  for (auto& of_user = acknowledged_[user]; !of_user.empty();) {
    KeptThrough through;
    through.set_session(of_user.begin()->first);
    through.set_number(of_user.begin()->second);
    auto told = UserClient(router_, user)
                    .acknowledge(through, {.deadline = Deadline::after(tell_time_max)});
    if (!told) return false;
    const auto found = of_user.find(through.session());
    if (found != of_user.end() && found->second == through.number()) of_user.erase(found);
  }
  acknowledged_.erase(user);
  return true;
}

Error logged_in_again() {
  return {Code::aborted, "this user has logged in again, on another client"};
}

}  // namespace corolane::framework::detail
