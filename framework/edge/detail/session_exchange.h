// SPDX-License-Identifier: MIT
// Reaches the sessions of clients, on whatever shard of whatever node they are: passes them to the
// shard that their client has reached, pushes to them, and tells their users where they are.
//
// It repeats what it tells a user until the user has answered. Each session is announced again
// every few minutes, and when the node has joined the cluster anew, so a user that has given it up
// for lost, or has lost its own state, knows it again.
//
// All of it belongs to one shard's thread; exchanges of other shards reach it by calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/member_timer.h"
#include "coroutine/task_group.h"
#include "framework/edge/sessions.corolane.h"
#include "rpc/session_registry.h"

namespace corolane::coroutine {
class Scheduler;
}
namespace corolane::rpc {
class Server;
}

namespace corolane::framework {
class ClusterView;
struct Member;
}  // namespace corolane::framework

namespace corolane::framework::detail {

class ObjectRouter;

class SessionExchange final : public SessionsBase, public rpc::SessionRegistry {
 public:
  struct Peer {
    coroutine::Scheduler* scheduler;
    SessionExchange* exchange;
  };

  // `router` outlives it, and is that of the same shard, whose number is `shard`. `node` is the
  // name of the node.
  SessionExchange(ObjectRouter& router, std::string_view node, std::size_t shard);
  ~SessionExchange() { stop(); }
  SessionExchange(const SessionExchange&) = delete;
  SessionExchange& operator=(const SessionExchange&) = delete;

  // The server of its shard, which outlives its calls. Set before the first client comes.
  void set_server(rpc::Server& server) { server_ = &server; }
  // All shards of the node by number; they outlive its calls. Before this it knows only itself.
  void set_peers(std::vector<Peer> peers) { peers_ = std::move(peers); }
  // From now on no session of a principal begins without its user, whether or not any node hosts
  // users now.
  void expect_users() { expects_users_ = true; }
  // The router has another view of the cluster.
  void view_changed();
  // The server stops, and all its sessions end: their users find out when they look for them.
  void close() { is_closed_ = true; }
  // Whether clients could go to another node.
  bool has_other_nodes() const;
  // Cancels the questions of other shards and its own calls, and suspends until they have ended.
  void stop();

  // Does something to a session, wherever it has moved from that home. Suspends. Fails with
  // unavailable while its node is away or the session is on its way, with aborted when it keeps
  // moving, as the order does, and as rpc::Client::call(). A delivery that is repeated is made
  // once.
  struct Reached {
    SessionReport report;  // is_here() is false when there is no such session any more.
    std::string home;
  };
  Result<Reached> visit(std::string home, SessionVisit& visit, Deadline deadline);

  // The node, also when it joins the cluster again, and the shard.
  std::string home() const override { return home_; }
  Result<rpc::SessionAnswer> take(const std::string& home, const rpc::SessionClaim& claim,
                                  Deadline deadline) override;
  Result<void> begin(rpc::Session& session) override;
  void begun(const rpc::Session& session) override;
  void arrived(const rpc::Session& session) override;
  Result<std::unique_ptr<rpc::PushSource>> follow_again(const std::string& record) override;
  void acknowledged(const rpc::Session& session, std::uint64_t kept_number) override;
  void ended(const rpc::Session& session, const Error& reason) override;

  Result<rpc::SessionAnswer> give(const SessionQuestion& question, rpc::Context& context) override;
  Result<SessionReport> visit(const SessionVisit& visit, rpc::Context& context) override;

 private:
  // A node and a shard.
  struct Address {
    bool is_here = false;
    const Member* member = nullptr;  // Null: here, or a node that is away.
    std::size_t shard = 0;
  };
  // Something that a user is told.
  struct Fact {
    enum class Kind : std::uint8_t { is_new, is_here, has_ended, has_kept };

    Kind kind;
    std::string user;
    SessionPlace place;  // Not of has_kept.
    int failed_count = 0;
  };
  // Fails with not_found for a home that is none.
  Result<Address> find(const std::string& home);
  // Runs `work(rpc::Server&)` on that shard of this node.
  template <typename F>
  std::invoke_result_t<F&, rpc::Server&> at_shard(std::size_t shard, F work, Deadline deadline);
  // On a shard of this node.
  Result<rpc::SessionAnswer> give_at(std::size_t shard, const rpc::SessionClaim& claim,
                                     Deadline deadline);
  Result<SessionReport> visit_shard(const SessionVisit& visit, Deadline deadline);
  Result<SessionReport> visit_at(const std::string& home, SessionVisit& visit, Deadline deadline);
  bool has_users() const;
  bool are_users_new() const;
  SessionPlace place_of(const rpc::Session& session) const;
  void add_fact(Fact::Kind kind, const rpc::Session& session);
  void add_fact(Fact fact);
  void tell_more();
  void tell_all();
  bool tell(Fact& fact);
  bool tell_kept(const std::string& user);
  void announce_later(std::uint64_t session);
  void announce_due();

  ObjectRouter& router_;
  const std::size_t shard_;
  const std::string node_digest_;
  const std::string home_;
  rpc::Server* server_ = nullptr;
  std::vector<Peer> peers_;
  // The members of a view by the digests of their names.
  std::shared_ptr<const ClusterView> known_view_;
  std::unordered_map<std::string, const Member*> members_;
  std::uint64_t self_epoch_ = 0;  // ClusterView::self_epoch() of the last view.
  bool expects_users_ = false;
  bool is_closed_ = false;
  bool is_stopped_ = false;
  std::deque<Fact> facts_;
  std::vector<Fact> failed_facts_;  // To be told again.
  std::size_t teller_count_ = 0;
  // By user and session: the number of the last kept push that the client has acknowledged, until
  // the user knows it.
  std::unordered_map<std::string, std::map<std::uint64_t, std::uint64_t>> acknowledged_;
  struct Announcement {
    TimePoint due;
    std::uint64_t session;
  };
  std::deque<Announcement> announcements_;       // The next one first,
  std::unordered_set<std::uint64_t> announced_;  // one for each of these sessions.
  coroutine::MemberTimer<&SessionExchange::tell_more> telling_again_{*this};
  coroutine::MemberTimer<&SessionExchange::announce_due> announcing_{*this};
  coroutine::TaskGroup incoming_;  // Questions of other shards.
  coroutine::TaskGroup telling_;
};

// Why a session ends whose user has logged in again.
Error logged_in_again();

}  // namespace corolane::framework::detail
