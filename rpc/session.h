// SPDX-License-Identifier: MIT
// Sessions: what a client keeps while its sockets come and go, and by which it is pushed to.
//
//   Result<JoinReply> Lobby::join(const JoinRequest& request, rpc::Context& context) {
//     const std::shared_ptr<rpc::Session> session = context.session();
//     if (session == nullptr) return Error(Code::failed_precondition, "this needs a session");
//     if (players_.emplace(session->number(), session).second) {
//       session->on_end([this, id = session->number()](const Error&) { players_.erase(id); });
//     }
//     for (const auto& [number, player] : players_) {
//       if (auto pushed = player->push(request.player()); !pushed) return pushed.error();
//     }
//     return JoinReply();
//   }
//
// A session begins with the login of a client that wants one (rpc::Client::Options::pushes). Its
// connection may break: the session is kept for a patience, and a new connection of the same
// principal resumes it. The server numbers what it pushes and keeps it until the client has
// acknowledged it, within bounds; a client that comes back is sent what it has missed. What was
// dropped is told as a gap: a push is never lost silently, never delivered twice, and never out of
// order.
//
// A session belongs to a server and that server's thread. When its client resumes it on another
// server (rpc/session_registry.h), it moves there with what is kept for the client: it ends here
// with aborted, and that server's handlers find it in their calls.
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/task_info.h"
#include "coroutine/timer_wheel.h"
#include "rpc/detail/token_bucket.h"
#include "rpc/principal.h"
#include "rpc/push_source.h"

namespace corolane::rpc {

class SessionRecord;
namespace detail {
class SessionGroups;
class SessionTable;
}  // namespace detail

struct SessionOptions {
  // How long a session is kept without a connection.
  std::chrono::milliseconds patience{60'000};
  // What is kept for a client until it acknowledges it: above either bound the oldest is dropped.
  std::size_t ring_count_max = 256;
  std::size_t ring_bytes_max = 256 * 1024;
  // The sessions of one server, and what all their rings hold together. One more session ends the
  // one that has been without a connection for longest; above the bytes a session that pushes drops
  // its own oldest.
  std::size_t count_max = 100'000;
  std::size_t bytes_max = std::size_t{64} << 20;
  // The groups that they all follow.
  std::size_t group_count_max = 200'000;
  // How much one client may ask for, over all its connections; 0: no limit. A second's worth may
  // come at once. Above that the client is slowed: nothing more of it is read until it is within
  // the rate. What has come in spite of that, more than a second's worth, is refused; a client that
  // is three seconds ahead is disconnected.
  std::uint32_t calls_per_second_max = 1'000;
  std::uint32_t bytes_per_second_max = std::uint32_t{4} << 20;
};

// Totals over all sessions of a server, for operators.
struct SessionCounts {
  std::size_t session_count = 0;    // Now,
  std::size_t connected_count = 0;  // and those of them with a connection.
  std::size_t ring_bytes = 0;
  std::uint64_t begun_count = 0;
  std::uint64_t resumed_count = 0;
  std::uint64_t refused_count = 0;   // Tokens of no session, or of another principal's.
  std::uint64_t arrived_count = 0;   // Sessions of other servers that moved here,
  std::uint64_t departed_count = 0;  // and of this one that moved away.
  std::uint64_t expired_count = 0;   // Sessions that ended without a connection.
  std::uint64_t kicked_count = 0;
  std::uint64_t lost_push_count = 0;
  std::size_t group_count = 0;  // That all sessions follow now.
  std::uint64_t group_push_count = 0;
  std::uint64_t group_gap_count = 0;
  // Calls above the rate of their session: after which it was slowed, that were refused, and that
  // ended the connection.
  std::uint64_t slowed_count = 0;
  std::uint64_t limited_count = 0;
  std::uint64_t flooded_count = 0;
};

class Session final : public std::enable_shared_from_this<Session>, private coroutine::Timer {
 public:
  // Pushes in order.
  struct Pushed {
    std::uint64_t number = 0;
    std::uint64_t type = 0;                              // The hash of the name of its message.
    std::shared_ptr<const std::string> bytes = nullptr;  // Null when it is lost.
    std::uint32_t group = 0;                             // That it is news of; 0: none.
    // Its sender keeps it under this number until the client has it; 0: it does not. Numbers count
    // within a mailbox, which has a random name that stays the same for a user.
    std::uint64_t kept_number = 0;
    std::uint64_t mailbox = 0;

    bool is_lost() const { return bytes == nullptr; }  // Only the number is left.
  };

  // A call of the client that is not answered yet. Holds views: valid during the call of see().
  struct RunningCall {
    std::string_view method;       // "package.Service/Method".
    std::string_view object = {};  // Its id; empty for a service.
    Duration age{};
    coroutine::TaskId task = 0;  // That serves it; 0: it waits for one.
  };
  using SeeCall = std::function<void(const RunningCall& call)>;

  // The connection of a client, as far as its session needs it. Its methods run on the loop's
  // stack.
  class Socket {
   public:
    virtual const std::string& peer_name() const = 0;  // "10.1.0.7:52310".
    // False, and nothing is sent, when there is no room.
    virtual bool send_push(const Pushed& push) = 0;
    // All pushes up to that number that the client has not received are lost.
    virtual bool send_gap(std::uint64_t number) = 0;
    // The session leaves it: it says why, and closes. It may not call the session any more. When
    // the session has moved, a client that has said go_away may await its replies first.
    virtual void leave(const Error& reason, bool has_moved) = 0;
    virtual void see_calls(const SeeCall& see) const = 0;

   protected:
    ~Socket() = default;
  };

  struct Statistics {
    std::uint64_t call_count = 0;      // That the client made, on this server,
    std::uint64_t received_bytes = 0;  // and their bytes.
    std::uint64_t pushed_count = 0;
    std::uint64_t acknowledged_number = 0;
    std::uint64_t lost_count = 0;  // Told to the client as gaps.
    std::uint64_t resumed_count = 0;
    std::size_t ring_count = 0;
    std::size_t ring_bytes = 0;
    std::size_t group_count = 0;
    TimePoint begun_at{};
  };

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Random, and the same wherever the session moves. Its secret is another value.
  std::uint64_t number() const { return number_; }
  const Principal& principal() const { return principal_; }
  bool is_connected() const { return socket_ != nullptr; }
  // "10.1.0.7:52310"; empty without a connection.
  std::string peer() const { return socket_ == nullptr ? std::string() : socket_->peer_name(); }
  // Its client has been told of it.
  bool has_begun() const { return has_begun_; }
  bool has_ended() const { return ended_by_.has_value(); }
  Statistics statistics() const;
  // Passes the calls that the present connection has to answer to `see`, which must not suspend.
  void see_calls(const SeeCall& see) const {
    if (socket_ != nullptr) socket_->see_calls(see);
  }
  // What its client follows: PushSource::record() of each group.
  std::vector<std::string> followed() const;

  // Sends the message to the client, now or when it comes back. Never suspends. Fails with
  // unavailable when the session has ended, and with resource_exhausted when the message alone is
  // above the bytes of the ring.
  Result<void> push(const google::protobuf::MessageLite& message);
  // For what comes from elsewhere, serialised. The same in order, by its sender:
  Result<void> push(std::uint64_t type, std::string bytes);
  // That is kept by its sender, under ascending numbers, until the registry hears that it was
  // acknowledged. A number that has come is not pushed again; of one that is too large the client
  // is told that it is lost. The client ignores one that it has received over a former session, by
  // its number in the mailbox; mailbox 0 has no name, so that clients ignore none.
  Result<void> push_kept(std::uint64_t mailbox, std::uint64_t kept_number, std::uint64_t type,
                         std::string bytes);
  // A push has not come this far: its client is told that one is lost.
  Result<void> lose();
  // From now on the client is pushed what comes from the source, as news of a group: the number is
  // unique among the groups of the session, and the client learns it from a reply. The session
  // follows the group wherever it moves, until the source ends, the client unfollows it, or the
  // session ends. Never suspends. The news wait while half the ring is full, so they take no other
  // push its place; what the source drops meanwhile is told as a gap of the group. Fails with
  // unavailable when the session has ended, and with resource_exhausted when it follows 64 groups,
  // or all sessions of the server follow too many.
  Result<std::uint32_t> follow(std::unique_ptr<PushSource> source);
  // Its client is told that the group ends (cancelled), also when it has ended before. Ignores a
  // number that no group has had.
  void unfollow(std::uint32_t group);
  // A sender that repeats what may have been lost stamps it: a stamp, or an earlier one of its
  // source, is noted once.
  struct Stamp {
    std::uint64_t epoch = 0;   // Senders follow one another: greater with each.
    std::uint64_t source = 0;  // Random: another one when a sender begins anew.
    std::uint64_t sequence = 0;
  };
  bool has_noted(const Stamp& stamp) const {
    return stamp.epoch == last_stamp_.epoch && stamp.source == last_stamp_.source &&
           stamp.sequence <= last_stamp_.sequence;
  }
  // Whether a later sender has been noted: then the one of that epoch is fenced.
  bool is_fenced(std::uint64_t epoch) const { return epoch < last_stamp_.epoch; }
  void note(const Stamp& stamp) { last_stamp_ = stamp; }
  // How often it has moved to another server.
  std::uint64_t move_count() const { return move_count_; }

  // Ends the session: its client is told the reason, now or when it would resume within two
  // patiences, and cannot resume. A client takes a code that
  // invites to try again, such as unavailable, as leave to begin a new session.
  void kick(const Error& reason);

  // Runs the function when the session ends: the patience is over (deadline_exceeded), it was
  // kicked, its client has resumed it on another server (aborted), newer sessions need its place
  // (resource_exhausted), or the server stops (unavailable).
  // At once when it has ended. The function must not suspend, and is kept until then: call this
  // once for a session, not with each of its calls.
  void on_end(std::function<void(const Error& reason)> function);

 private:
  friend class detail::SessionTable;

  Session(detail::SessionTable& table, std::uint64_t number, std::string secret,
          Principal principal);

  // What moves to another server, and is taken over there from the record.
  SessionRecord record();
  void take_over(const SessionRecord& record);

  // A connection of the client takes over; the client has received the pushes up to that number.
  // Fails with invalid_argument when that cannot be.
  Result<void> attach(Socket& socket, std::uint64_t received_number);
  // The connection is gone. Does nothing when another one has taken over. A session that neither
  // the registry nor a handler knows, and that nothing was pushed to, is not worth keeping.
  void detach(const Socket& socket, bool is_known);
  Result<void> acknowledge(const Socket& socket, std::uint64_t number);
  void end(const Error& reason, bool has_moved = false);

  // What is to be done with a call, or an item of a stream, of that size.
  enum class Verdict : std::uint8_t { serve, slow, refuse, disconnect };
  struct Judgement {
    Verdict verdict = Verdict::serve;
    Duration pause{};  // Until it is within its rate.
  };
  Judgement judge(std::size_t call_count, std::size_t bytes, TimePoint time);

  Error ended_error() const;
  Result<void> append(Pushed push);
  // Moves news from the groups to the ring, while it has room for them.
  void read_groups();
  bool has_room_for_news() const;
  detail::SessionGroups& groups();
  void send_rest();
  void forget_through(std::uint64_t number);
  void drop_oldest();
  void on_time();
  // Waits for its client, for the patience.
  void begin_waiting();
  void end_waiting();

  detail::SessionTable* table_;  // Null once it has ended.
  const std::uint64_t number_;
  const std::string secret_;
  bool is_announced_ = false;  // To the registry.
  bool has_begun_ = false;
  Principal principal_;  // As of the last login.
  Socket* socket_ = nullptr;
  std::deque<Pushed> ring_;                        // Not acknowledged.
  std::unique_ptr<detail::SessionGroups> groups_;  // Null until it follows one.
  bool is_noted_ = false;                          // The table knows that groups have news.
  std::size_t ring_bytes_ = 0;
  std::uint64_t last_number_ = 0;  // Of the last push.
  std::uint64_t sent_number_ = 0;  // The last one that the connection was sent, or told as lost.
  std::uint64_t acknowledged_number_ = 0;
  std::uint64_t lost_count_ = 0;
  Stamp last_stamp_;
  std::uint64_t last_kept_number_ = 0;
  struct Dropped {
    std::uint64_t number = 0;
    std::uint64_t kept_number = 0;
  };
  Dropped dropped_;  // The last one that its sender keeps.
  std::uint64_t move_count_ = 0;
  detail::TokenBucket calls_;
  detail::TokenBucket bytes_;
  std::uint64_t call_count_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t attached_count_ = 0;
  std::list<Session*>::iterator place_among_waiting_ = {};
  bool is_waiting_ = false;
  TimePoint begun_at_ = now();
  std::optional<Error> ended_by_;
  std::vector<std::function<void(const Error&)>> end_functions_;
};

}  // namespace corolane::rpc
