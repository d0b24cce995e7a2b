// SPDX-License-Identifier: MIT
// What a server asks and tells about sessions beyond itself, so that a client may resume on any
// server, and a program knows where its users are.
//
// Each server has a name among all, its home. It is part of what the clients of its sessions show,
// so the server that a client reaches knows which one to ask. That one gives the session away, and
// remembers where it went. So a session has one home at any time, however many connections resume
// it at once.
//
//   std::string Servers::home() const { return name_; }
//   Result<SessionAnswer> Servers::take(const std::string& home, const SessionClaim& claim,
//                                       Deadline deadline) {
//     const auto found = servers_.find(home);
//     if (found == servers_.end()) return Error(Code::not_found, "no server is called " + home);
//     return found->second->give_session(claim, deadline);
//   }
//
// A node of the framework has one on each shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"

namespace corolane::rpc {

class PushSource;
class Session;
class SessionAnswer;
class SessionClaim;

class SessionRegistry {
 public:
  static constexpr std::size_t home_bytes_max = 64;

  // The name of the server that asks. Clients see it, and may send any other.
  virtual std::string home() const = 0;
  // Passes the claim to the server of that name, whose Server::give_session() answers. Suspends.
  // Fails with not_found when there is no such server, otherwise as Client::call().
  virtual Result<SessionAnswer> take(const std::string& home, const SessionClaim& claim,
                                     Deadline deadline) = 0;

  // A session of a principal begins here. Its client has not heard of it, and an error refuses that
  // client. May suspend.
  virtual Result<void> begin(Session& session) = 0;
  // It has begun: its client hears of it. Never suspends.
  virtual void begun(const Session& session) = 0;
  // A session of a principal has moved here. Never suspends.
  virtual void arrived(const Session& session) = 0;
  // Makes a source of a session that has moved here again, from its record (push_source.h), which
  // comes from another server. Never suspends. An error ends that group for the client.
  virtual Result<std::unique_ptr<PushSource>> follow_again(const std::string& record) = 0;
  // The client of a session of a principal has received what it was pushed, or was told that it is
  // lost, through the one of that Session::Pushed::kept_number. Never suspends.
  virtual void acknowledged(const Session& session, std::uint64_t kept_number) = 0;
  // A session of a principal, about which begin() was asked, has ended here, other than by moving.
  // Never suspends.
  virtual void ended(const Session& session, const Error& reason) = 0;

 protected:
  ~SessionRegistry() = default;
};

}  // namespace corolane::rpc
