// SPDX-License-Identifier: MIT
// The groups that a session follows: what comes from all of them, in turns, so that a busy one
// holds up no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/push_source.h"

namespace corolane::rpc {
class Session;
class SessionRecord;
class SessionRegistry;
}  // namespace corolane::rpc

namespace corolane::rpc::detail {

class SessionTable;

class SessionGroups {
 public:
  static constexpr std::size_t count_max = 64;

  // The table hears that there is news for the session. Both outlive it.
  SessionGroups(SessionTable& table, Session& session) : table_(table), session_(session) {}
  ~SessionGroups();
  SessionGroups(const SessionGroups&) = delete;
  SessionGroups& operator=(const SessionGroups&) = delete;

  // The number of the new group, which no other of the session has had. Fails with
  // resource_exhausted when there are too many, here or in the table.
  Result<std::uint32_t> follow(std::unique_ptr<PushSource> source);
  // Whether it is there, or was.
  bool unfollow(std::uint32_t group);
  // Tells the client why a group ends.
  static News end_of(const Error& reason);

  struct Next {
    std::uint32_t group = 0;
    News news;  // The end is a GroupEnd (wire.proto).
  };
  // Nothing when no group has any: then the table hears when one may have.
  std::optional<Next> poll();

  std::size_t size() const { return groups_.size(); }
  void add_to(SessionRecord& record) const;
  std::vector<std::string> records() const;
  // Those of a record, as the registry makes them. One that it cannot make ends for the client.
  void take_over(const SessionRecord& record, SessionRegistry& registry);
  // The session leaves: nothing is read any more, nor is the table told.
  void part();

 private:
  struct Group {
    std::uint32_t number = 0;
    std::unique_ptr<PushSource> source;  // Null: it could not be made.
    bool is_readable = true;             // As far as is known.
    std::optional<Error> failure = {};   // Why it could not.
  };

  void add(Group group);
  void await(Group& group);
  // The next of that group; nothing when it has none. An end removes it.
  std::optional<Next> poll(std::list<Group>::iterator group);

  SessionTable& table_;
  Session& session_;
  std::list<Group> groups_;  // The one whose turn it is comes first.
  std::uint32_t last_number_ = 0;
  bool has_parted_ = false;
};

}  // namespace corolane::rpc::detail
