// SPDX-License-Identifier: MIT
// The sessions of a server, found by the tokens that their clients show: the secret of the session,
// and behind it the home of the server that had it then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/member_timer.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "rpc/principal.h"
#include "rpc/server/detail/session_departures.h"
#include "rpc/session.h"
#include "rpc/session_moves.pb.h"

namespace corolane::rpc {
class SessionRegistry;
}

namespace corolane::rpc::detail {

class SessionGroups;

class SessionTable {
 public:
  // 128 random bits: whoever knows them, and is the same principal, may resume.
  static constexpr std::size_t secret_bytes = 16;

  // A departure is of use while a client may name this server, which it does until it has heard of
  // the next one.
  static constexpr int patiences_per_departure = 2;

  // `registry` outlives it; null: there are no other servers.
  SessionTable(const SessionOptions& options, SessionRegistry* registry);
  ~SessionTable();
  SessionTable(const SessionTable&) = delete;
  SessionTable& operator=(const SessionTable&) = delete;

  // Whether the token may be of a session that another server has, or that was ended.
  bool may_be_elsewhere(std::string_view token);
  struct Found {
    std::shared_ptr<Session> session;
    bool is_resumed = false;
  };
  // The session of that token, if it is here and the principal's; otherwise a new one, which the
  // registry has not heard of.
  Found find_or_begin(std::string_view token, const Principal& principal);
  // The same, also when the session is on another server, from which it takes it, and tells the
  // registry of a new one. Suspends; what is on its way arrives also when the caller is cancelled.
  // Fails with resource_exhausted when there is no stack, and as SessionRegistry::begin().
  Result<Found> find_anywhere(std::string_view token, const Principal& principal);
  // The client has been told, or has left meanwhile: then a session that has begun for it ends.
  void settle(const Found& found, bool is_client_there);
  // Null when it is not here.
  std::shared_ptr<Session> find(std::uint64_t number) const;
  // Calls see(session) for each, in any order.
  template <typename F>
  void for_each(F&& see) const {
    for (const auto& [secret, session] : sessions_) see(std::as_const(*session));
  }
  // The home to which it has moved; empty when that is not known.
  std::string next_home(std::uint64_t number) { return departures_.next_home(number); }
  // Gives a session to another server, or says where it is. Suspends while it is on its way here.
  SessionAnswer give(const SessionClaim& claim, Deadline deadline);

  std::string token_of(const Session& session) const;

  Result<void> attach(Session& session, Session::Socket& socket, std::uint64_t received_number) {
    return session.attach(socket, received_number);
  }
  void detach(Session& session, const Session::Socket& socket, bool is_known) {
    session.detach(socket, is_known);
  }
  Result<void> acknowledge(Session& session, const Session::Socket& socket, std::uint64_t number) {
    return session.acknowledge(socket, number);
  }

  using Verdict = Session::Verdict;
  Session::Judgement judge(Session& session, std::size_t call_count, std::size_t bytes,
                           TimePoint time) {
    return session.judge(call_count, bytes, time);
  }

  // Groups of the session have news, for which it looks in one of the next turns of the loop: with
  // thousands of them, other work comes in between. May be called while a source changes.
  void has_news(Session& session);

  // Ends all sessions, and the connections of those that have one. Suspends while any is on its
  // way.
  void stop(const Error& reason);

  SessionCounts statistics() const;

 private:
  friend class rpc::Session;
  friend class SessionGroups;

  // The groups of a session that has moved. Until its next server follows them, what they come from
  // stays in use, and keeps its latest.
  struct Parting {
    TimePoint due;
    std::unique_ptr<SessionGroups> groups;
  };

  Result<void> bring(std::string_view token, const Principal& principal);
  Result<SessionAnswer> ask(const std::string& home, const SessionClaim& claim, Deadline deadline);
  void fetch(const std::string& secret, std::string home, const Principal& principal,
             const coroutine::Event& arrival);
  void install(const std::string& secret, const Principal& principal, const SessionRecord& record);
  void remember_end(const Session& session, const Error& reason);
  SessionRecord depart(Session& session, const SessionClaim& claim);
  void add(const std::string& secret, const std::shared_ptr<Session>& session);
  void make_room();
  void push_news();
  void part();

  const SessionOptions options_;
  SessionRegistry* const registry_;
  std::unordered_map<std::string, std::shared_ptr<Session>> sessions_;  // By secret.
  // Into `sessions_`: a push finds its session without the secret.
  std::unordered_map<std::uint64_t, const std::shared_ptr<Session>*> by_number_;
  std::list<Session*> waiting_;  // Without a connection, the longest first.
  // On their way here, by secret and principal.
  std::unordered_map<std::string, std::shared_ptr<coroutine::Event>> arriving_;
  SessionDepartures departures_;
  std::size_t ring_bytes_ = 0;
  std::size_t group_count_ = 0;  // Of all sessions.
  std::deque<std::shared_ptr<Session>> with_news_;
  std::deque<Parting> parting_;  // The first one is due first.
  coroutine::MemberTimer<&SessionTable::push_news> pushing_news_{*this};
  coroutine::MemberTimer<&SessionTable::part> parting_soon_{*this};
  SessionCounts counts_;  // Of what has happened.
  coroutine::TaskGroup fetching_;
};

}  // namespace corolane::rpc::detail
