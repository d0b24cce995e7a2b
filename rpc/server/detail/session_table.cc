// SPDX-License-Identifier: MIT
#include "rpc/server/detail/session_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "net/crypto.h"
#include "rpc/server/detail/seeded_bugs.h"
#include "rpc/server/detail/session_groups.h"
#include "rpc/session_registry.h"

namespace corolane::rpc::detail {
namespace {

using namespace std::chrono_literals;

// How long a login looks for a session on other servers.
constexpr Duration fetch_time_max = 2s;

// Of which it waits so long for a connection to one: the connection between two nodes may just be
// made again, but a node that is gone holds no login up.
constexpr Duration connect_time_max = 100ms;
constexpr Duration connect_interval = 20ms;

// Logins that do so at the same time.
constexpr std::size_t fetch_count_max = 1'000;

// And how many servers one of them asks: a client that is cut before it hears where its session is
// may have left it on one after the other.
constexpr int hop_count_max = 8;

// Sessions that are pushed news in one turn of the loop, at whose end their output is sent: of
// more, the first would have left the cache by then, which costs a tenth of a publication.
constexpr std::size_t news_count_max = 32;

// How long the sources of a session that has moved are kept: longer than a login takes to take it
// over.
constexpr Duration parting_time = fetch_time_max + 1s;

std::string_view secret_of(std::string_view token) {
  return token.substr(0, SessionTable::secret_bytes);
}
std::string_view home_of(std::string_view token) {
  return token.substr(SessionTable::secret_bytes);
}

bool is_of(const Session& session, std::string_view principal) {
  return session.principal().id == principal || COROLANE_SESSION_BUG(resume_without_principal);
}

// The claim of another principal to the same session is apart.
std::string arrival_key(std::string_view secret, std::string_view principal) {
  return std::string(secret).append(principal);
}

}  // namespace

SessionTable::SessionTable(const SessionOptions& options, SessionRegistry* registry)
    : options_(options),
      registry_(registry),
      departures_({.count_max = options.count_max,
                   .time_max = patiences_per_departure * Duration(options.patience)}) {}

SessionTable::~SessionTable() { stop(Error(Code::unavailable, "the server stops")); }

bool SessionTable::may_be_elsewhere(std::string_view token) {
  if (token.empty()) return false;
  const std::string secret(secret_of(token));
  if (sessions_.contains(secret)) return false;
  if (departures_.find(secret) != nullptr) return true;
  return registry_ != nullptr && token.size() > secret_bytes &&
         token.size() <= secret_bytes + SessionRegistry::home_bytes_max &&
         home_of(token) != registry_->home();
}

Result<void> SessionTable::bring(std::string_view token, const Principal& principal) {
  if (registry_ == nullptr || !may_be_elsewhere(token)) return {};
  const std::string key = arrival_key(secret_of(token), principal.id);
  const auto coming = arriving_.find(key);
  std::shared_ptr<coroutine::Event> arrival;
  if (coming != arriving_.end()) {
    arrival = coming->second;
  } else {
    if (fetching_.size() >= fetch_count_max) {
      return Error(Code::resource_exhausted, "too many clients come from other servers at once");
    }
    arrival = std::make_shared<coroutine::Event>("session that moves here");
    auto spawned = fetching_.spawn("rpc session move",
                                   [this, key, arrival, secret = std::string(secret_of(token)),
                                    home = std::string(home_of(token)), principal] {
                                     fetch(secret, home, principal, *arrival);
                                     arriving_.erase(key);
                                     arrival->set();
                                   });
    if (!spawned) return spawned.error();
    arriving_.emplace(key, arrival);
  }
  auto arrived = arrival->wait(Deadline::after(fetch_time_max));
  // A client is not kept waiting for a server that is silent: it begins a new session.
  if (!arrived && arrived.error().code() == Code::deadline_exceeded) return {};
  return arrived;
}

Result<SessionAnswer> SessionTable::ask(const std::string& home, const SessionClaim& claim,
                                        Deadline deadline) {
  const Deadline connected_by = earlier(deadline, Deadline::after(connect_time_max));
  bool has_repeated = false;
  for (;;) {
    auto answer = registry_->take(home, claim, deadline);
    if (answer) return answer;
    const Error& error = answer.error();
    if (error.maybe_executed()) {
      // The answer was lost: the session may have left already.
      if (std::exchange(has_repeated, true)) return answer;
    } else if (error.code() != Code::unavailable || connected_by.has_passed()) {
      return answer;
    }
    if (auto slept = coroutine::sleep_for(connect_interval); !slept) return slept.error();
  }
}

void SessionTable::fetch(const std::string& secret, std::string home, const Principal& principal,
                         const coroutine::Event& arrival) {
  const Deadline deadline = Deadline::after(fetch_time_max);
  SessionClaim claim;
  claim.set_secret(secret);
  claim.set_principal(principal.id);
  claim.set_taker(registry_->home());
  claim.set_attempt(net::seed_or_random(0));
  for (int hop = 0; hop < hop_count_max; ++hop) {
    // The client has left, and may be where the session is.
    if (hop > 0 && !arrival.has_waiters()) return;
    if (home == claim.taker()) {
      const SessionDepartures::Departure* const departure = departures_.find(secret);
      if (departure == nullptr || departure->ended_by) return;
      home = departure->to;
    }
    auto answer = ask(home, claim, deadline);
    if (!answer) return;
    if (answer->has_session()) return install(secret, principal, answer->session());
    if (answer->ended_code() != 0) {
      departures_.add(
          {.secret = secret,
           .ended_by = Error(code_from_number(answer->ended_code()), answer->ended_reason())});
      return;
    }
    if (answer->moved_to().empty()) return;
    home = answer->moved_to();
  }
}

void SessionTable::install(const std::string& secret, const Principal& principal,
                           const SessionRecord& record) {
  if (sessions_.contains(secret)) return;
  make_room();
  departures_.erase(secret);
  std::shared_ptr<Session> session(new Session(*this, record.number(), secret, principal));
  session->take_over(record);
  session->begin_waiting();
  session->is_announced_ = !principal.id.empty();
  session->has_begun_ = true;
  add(secret, session);
  ++counts_.arrived_count;
  if (session->is_announced_) registry_->arrived(*session);
}

SessionAnswer SessionTable::give(const SessionClaim& claim, Deadline deadline) {
  SessionAnswer answer;
  const auto arriving = arriving_.find(arrival_key(claim.secret(), claim.principal()));
  // Two servers that wait for each other's answers would get none.
  if (arriving != arriving_.end() && departures_.find(claim.secret()) == nullptr) {
    const std::shared_ptr<coroutine::Event> arrival = arriving->second;
    if (!arrival->wait(deadline)) return answer;
  }
  const auto found = sessions_.find(claim.secret());
  if (found != sessions_.end()) {
    Session& session = *found->second;
    if (is_of(session, claim.principal())) *answer.mutable_session() = depart(session, claim);
    return answer;
  }
  const SessionDepartures::Departure* const departure = departures_.find(claim.secret());
  if (departure == nullptr) return answer;
  if (departure->ended_by) {
    answer.set_ended_code(static_cast<std::uint32_t>(departure->ended_by->code()));
    answer.set_ended_reason(departure->ended_by->message());
    return answer;
  }
  // The taker has not got the answer to this attempt.
  if (departure->attempt == claim.attempt() && !departure->record.empty()) {
    answer.mutable_session()->ParseFromString(departure->record);
  } else {
    answer.set_moved_to(departure->to);
  }
  return answer;
}

void SessionTable::remember_end(const Session& session, const Error& reason) {
  departures_.add({.secret = session.secret_, .number = session.number(), .ended_by = reason});
}

SessionRecord SessionTable::depart(Session& session, const SessionClaim& claim) {
  SessionRecord record = session.record();
  departures_.add({.secret = claim.secret(),
                   .number = session.number(),
                   .to = claim.taker(),
                   .attempt = claim.attempt(),
                   .record = record.SerializeAsString()});
  ++counts_.departed_count;
  if (session.groups_ != nullptr) {
    session.groups_->part();
    if (parting_.empty()) {
      parting_soon_.arm(Deadline::after(parting_time));
    }
    parting_.push_back({.due = now() + parting_time, .groups = std::move(session.groups_)});
  }
  session.is_announced_ = false;
  session.end(Error(Code::aborted, "its client has resumed it on another server"),
              /*has_moved=*/true);
  return record;
}

void SessionTable::add(const std::string& secret, const std::shared_ptr<Session>& session) {
  const auto added = sessions_.emplace(secret, session).first;
  by_number_.emplace(session->number(), &added->second);
}

void SessionTable::make_room() {
  if (sessions_.size() < options_.count_max || waiting_.empty()) return;
  waiting_.front()->end(Error(Code::resource_exhausted, "newer sessions need the room"));
}

SessionTable::Found SessionTable::find_or_begin(std::string_view token,
                                                const Principal& principal) {
  if (!token.empty()) {
    const auto found = sessions_.find(std::string(secret_of(token)));
    if (found != sessions_.end() && is_of(*found->second, principal.id)) {
      ++counts_.resumed_count;
      found->second->principal_ = principal;
      return {.session = found->second, .is_resumed = true};
    }
    ++counts_.refused_count;
  }
  make_room();
  const std::string secret = net::random_text(secret_bytes);
  std::shared_ptr<Session> session(new Session(*this, net::seed_or_random(0), secret, principal));
  add(secret, session);
  session->begin_waiting();
  ++counts_.begun_count;
  return {.session = std::move(session), .is_resumed = false};
}

Result<SessionTable::Found> SessionTable::find_anywhere(std::string_view token,
                                                        const Principal& principal) {
  if (auto brought = bring(token, principal); !brought) return brought.error();
  const SessionDepartures::Departure* const departure =
      departures_.find(std::string(secret_of(token)));
  if (departure != nullptr && departure->ended_by) return *departure->ended_by;
  Found found = find_or_begin(token, principal);
  if (found.is_resumed || registry_ == nullptr || principal.id.empty()) return found;
  found.session->is_announced_ = true;
  if (auto begun = registry_->begin(*found.session); !begun) {
    found.session->end(begun.error());
    return begun.error();
  }
  return found;
}

void SessionTable::settle(const Found& found, bool is_client_there) {
  if (found.session == nullptr || found.is_resumed) return;
  if (!is_client_there) return found.session->end(Error(Code::cancelled, "its client has left"));
  found.session->has_begun_ = true;
  if (found.session->is_announced_) registry_->begun(*found.session);
}

std::shared_ptr<Session> SessionTable::find(std::uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : *found->second;
}

std::string SessionTable::token_of(const Session& session) const {
  return registry_ == nullptr ? session.secret_ : session.secret_ + registry_->home();
}

void SessionTable::has_news(Session& session) {
  if (std::exchange(session.is_noted_, true)) return;
  with_news_.push_back(session.shared_from_this());
  if (pushing_news_.is_armed()) return;
  pushing_news_.arm(Deadline::passed());
}

// Those that have news meanwhile come in the next turn.
void SessionTable::push_news() {
  for (std::size_t left = std::min(with_news_.size(), news_count_max); left > 0; --left) {
    const std::shared_ptr<Session> session = std::move(with_news_.front());
    with_news_.pop_front();
    session->is_noted_ = false;
    session->read_groups();
  }
  if (with_news_.empty() || pushing_news_.is_armed()) return;
  pushing_news_.arm(Deadline::passed());
}

void SessionTable::part() {
  while (!parting_.empty() && parting_.front().due <= now()) parting_.pop_front();
  if (parting_.empty()) return;
  parting_soon_.arm(Deadline::at(parting_.front().due));
}

void SessionTable::stop(const Error& reason) {
  fetching_.cancel_and_join();
  parting_.clear();
  while (!sessions_.empty()) sessions_.begin()->second->end(reason);
}

SessionCounts SessionTable::statistics() const {
  SessionCounts statistics = counts_;
  statistics.session_count = sessions_.size();
  statistics.ring_bytes = ring_bytes_;
  statistics.group_count = group_count_;
  statistics.connected_count = sessions_.size() - waiting_.size();
  return statistics;
}

}  // namespace corolane::rpc::detail
