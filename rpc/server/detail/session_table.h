// SPDX-License-Identifier: MIT
// The sessions of a server, found by the tokens that their clients show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "coroutine/base/error.h"
#include "rpc/principal.h"
#include "rpc/session.h"

namespace corolane::rpc::detail {

class SessionTable {
 public:
  // 128 random bits: whoever knows them, and is the same principal, may resume.
  static constexpr std::size_t token_bytes = 16;

  explicit SessionTable(const SessionOptions& options) : options_(options) {}
  ~SessionTable() { end_all(Error(Code::unavailable, "the server stops")); }
  SessionTable(const SessionTable&) = delete;
  SessionTable& operator=(const SessionTable&) = delete;

  struct Found {
    std::shared_ptr<Session> session;
    bool is_resumed = false;
  };
  // The session of that token, if it is the principal's; otherwise a new one.
  Found find_or_begin(std::string_view token, const Principal& principal);
  const std::string& token_of(const Session& session) const { return session.token_; }

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

  // Ends all sessions that have no connection, and makes the others end with theirs.
  void end_all(const Error& reason);

  SessionCounts statistics() const;

 private:
  friend class rpc::Session;

  const SessionOptions options_;
  std::unordered_map<std::string, std::shared_ptr<Session>> sessions_;
  std::list<Session*> waiting_;  // Without a connection, the longest first.
  std::uint64_t last_number_ = 0;
  std::size_t ring_bytes_ = 0;
  SessionCounts counts_;  // Of what has happened.
};

}  // namespace corolane::rpc::detail
