// SPDX-License-Identifier: MIT
// Connections come and go here; the Dispatcher serves their requests.
#include "rpc/server/server.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <list>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "net/graveyard.h"
#include "rpc/server/detail/dispatcher.h"
#include "rpc/server/detail/server_connection.h"
#include "rpc/session_moves.pb.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;

// While stopping: how long a connection may take to send its queued output.
constexpr Duration flush_time_max = 500ms;

// A client with this much unread output is not read from: the replies to some hundred requests.
// With as much again in the kernel, that is below the mark where its output stalls.
constexpr std::size_t output_while_reading_max = 64 * 1024;

// Whether the method exists for peers behind `door`.
bool is_there(const detail::ServedMethod* served, Door door) {
  return served != nullptr && (door == Door::nodes || served->is_for_clients);
}

// How often a few clients more are asked to leave.
constexpr std::size_t dismissals_per_second = 100;
constexpr Duration dismissal_interval = 10ms;
// However many there are, they have been asked by then.
constexpr Duration dismissal_time_max = 3s;
constexpr Duration dismissal_look_interval = 50ms;

// How long sessions without a connection wait then for their clients to arrive at another server.
constexpr Duration claim_time_max = 2s;

// Connections without a place that are sent a refusal. Further ones are closed without one: each
// holds a descriptor for as long as its peer takes to read it.
constexpr std::size_t turned_away_count_max = 64;

net::AddressShares::Limits connection_limits(const Server::Options& options, Door door) {
  const bool has_shares = door == Door::clients;
  return {.count_max = options.connection_count_max,
          .share_percent = has_shares ? options.address_share_percent : 100};
}

// Each running call has a stack, and stacks are the scarce resource.
net::AddressShares::Limits call_limits(const Server::Options& options) {
  return {.count_max = coroutine::Scheduler::current().stacks().ordinary_count_max(),
          .share_percent = options.address_share_percent};
}

detail::PrincipalCounts::Limits principal_limits(const Server::Options& options) {
  return {.connection_count_max = options.connections_per_principal_max,
          .call_count_max = options.calls_per_principal_max};
}

}  // namespace

class Server::Impl final : private detail::ServerConnection::Host {
 public:
  Impl(net::Network& network, const Options& options)
      : network_(network),
        options_(options),
        node_connections_(connection_limits(options, Door::nodes)),
        client_connections_(connection_limits(options, Door::clients)),
        call_shares_(call_limits(options)),
        principals_(principal_limits(options)),
        client_bytes_(options.client_bytes_max),
        sessions_(options.sessions, options.session_registry),
        dispatcher_(options_, client_bytes_) {
    // protobuf would log a line for each malformed request; their senders get an error, and they
    // are counted.
    [[maybe_unused]] static const auto previous = google::protobuf::SetLogHandler(nullptr);
  }

  detail::Dispatcher& dispatcher() { return dispatcher_; }
  const detail::Dispatcher& dispatcher() const { return dispatcher_; }
  Result<net::Endpoint> listen(const net::Endpoint& endpoint, ListenOptions options);
  net::AddressShares& call_shares() { return call_shares_; }
  net::ByteBudget& client_bytes() { return client_bytes_; }
  detail::PrincipalCounts& principals_of_all() { return principals_; }
  detail::SessionTable& sessions_of_all() { return sessions_; }
  void set_limits(const Options& options);
  void dismiss_clients(std::size_t per_second, Deadline deadline);
  Result<void> stop(Deadline deadline);
  Statistics statistics() const;
  void read_totals(Totals& totals) const;
  void for_each_connection(const std::function<void(const ConnectionView&)>& see) const;

 private:
  struct Listening {
    ListenOptions options;
    std::unique_ptr<net::Listener> listener;
    bool is_closed = false;
  };

  void accept_all(const Listening& listening);
  void admit(const Listening& listening, std::unique_ptr<net::Stream> stream);
  net::ConnectionBound& bound_of(const ListenOptions& options);
  Result<void> log_in(detail::ServerConnection& connection) override;
  detail::PrincipalCounts& principals() override { return principals_; }
  detail::SessionTable& sessions() override { return sessions_; }
  Result<void> opened() override;
  void serve(detail::ServerConnection& connection, const Frame& frame) override {
    dispatcher_.serve(connection, frame);
  }
  void ended(detail::ServerConnection& connection) override;
  static void close(Listening& listening);
  void ask_clients_to_leave();
  void wait_for_clients_to_leave(Deadline deadline);
  void close_connections();

  net::Network& network_;
  Options options_;
  // These outlive the connections, which have places in them.
  net::ConnectionBound node_connections_;
  net::ConnectionBound client_connections_;
  net::AddressShares call_shares_;
  detail::PrincipalCounts principals_;
  net::ByteBudget client_bytes_;
  detail::SessionTable sessions_;
  std::list<Listening> listenings_;  // Their connections refer to their options.
  std::unordered_map<std::uint64_t, std::unique_ptr<detail::ServerConnection>> connections_;
  net::Graveyard<detail::ServerConnection> ended_;
  coroutine::Event some_left_{"clients that leave"};
  bool stopping_ = false;
  std::uint64_t last_connection_id_ = 0;
  std::size_t turned_away_count_ = 0;  // Open connections without a place.
  Statistics statistics_;
  detail::Dispatcher dispatcher_;
  coroutine::TaskGroup accepting_;
  coroutine::TaskGroup logins_;
};

Result<net::Endpoint> Server::Impl::listen(const net::Endpoint& endpoint, ListenOptions options) {
  const std::size_t key_size = options.security.shared_key.size();
  if (key_size > 0 && key_size < Security::shared_key_bytes_min) {
    return Error(Code::invalid_argument,
                 "the shared key has " + std::to_string(key_size) + " bytes; take at least " +
                     std::to_string(Security::shared_key_bytes_min) + ", from a random source");
  }
  if (key_size > 0 && options.login) {
    return Error(Code::invalid_argument,
                 "a listener has a shared key, for nodes, or a login, for clients");
  }
  const bool is_for_clients = options.door == Door::clients;
  net::Network& network = options.network == nullptr ? network_ : *options.network;
  auto listener =
      network.listen(endpoint, {.stream = {.output_while_reading_max = output_while_reading_max,
                                           .budget = is_for_clients ? &client_bytes_ : nullptr},
                                .shares_port = options.shares_port});
  if (!listener) return listener.error();
  Listening& listening = listenings_.emplace_back(
      Listening{.options = std::move(options), .listener = std::move(*listener)});
  auto spawned = accepting_.spawn("rpc accept", [this, &listening] { accept_all(listening); });
  if (!spawned) {
    listenings_.pop_back();
    return spawned.error();
  }
  return listening.listener->local_endpoint();
}

void Server::Impl::set_limits(const Options& options) {
  options_.connection_count_max = options.connection_count_max;
  options_.calls_per_connection_max = options.calls_per_connection_max;
  options_.address_share_percent = options.address_share_percent;
  node_connections_.set_limits(connection_limits(options_, Door::nodes));
  client_connections_.set_limits(connection_limits(options_, Door::clients));
  options_.connections_per_principal_max = options.connections_per_principal_max;
  options_.calls_per_principal_max = options.calls_per_principal_max;
  call_shares_.set_limits(call_limits(options_));
  principals_.set_limits(principal_limits(options_));
  options_.client_bytes_max = options.client_bytes_max;
  client_bytes_.set_bytes_max(options.client_bytes_max);
}

net::ConnectionBound& Server::Impl::bound_of(const ListenOptions& options) {
  if (options.connections != nullptr) return *options.connections;
  return options.door == Door::clients ? client_connections_ : node_connections_;
}

void Server::Impl::accept_all(const Listening& listening) {
  while (auto stream = net::accept_next(*listening.listener, listening.is_closed)) {
    admit(listening, std::move(stream));
  }
}

void Server::Impl::admit(const Listening& listening, std::unique_ptr<net::Stream> stream) {
  using detail::Handshake;
  ++statistics_.accepted_count;
  auto place = bound_of(listening.options).take(stream->peer_endpoint());
  const bool has_place = static_cast<bool>(place);
  if (!has_place) {
    ++statistics_.refused_connection_count;
    if (turned_away_count_ == turned_away_count_max) return;
    ++turned_away_count_;
  }
  const std::uint64_t id = ++last_connection_id_;
  const Security& security = listening.options.security;
  const std::size_t calls_max = listening.options.calls_per_connection_max != 0
                                    ? listening.options.calls_per_connection_max
                                    : options_.calls_per_connection_max;
  auto owned = std::make_unique<detail::ServerConnection>(
      static_cast<detail::ServerConnection::Host&>(*this), id, std::move(stream),
      Handshake(Handshake::Role::server, security,
                {.payload_bytes_max = listening.options.request_bytes_max}),
      detail::Connection::Limits{.handshake_time_max = options_.hello_time_max,
                                 .keepalive = options_.keepalive},
      detail::ServerConnection::Rules{
          .needs_peer_certificate = security.needs_peer_certificate,
          .door = listening.options.door,
          .call_count_max = calls_max,
          .retry_after = options_.admission.retry_after,
          .login = listening.options.login ? &listening.options.login : nullptr});
  detail::ServerConnection& connection = *owned;
  connection.place = std::move(place);
  if (listening.options.door == Door::clients) {
    connection.shares = {call_shares_, connection.stream().peer_endpoint()};
  }
  connections_.emplace(id, std::move(owned));
  connection.start();
  if (!has_place) {
    connection.say_bye(
        Error(Code::resource_exhausted,
              "the server has reached its limit of connections, or that of this address"));
  }
}

Result<void> Server::Impl::log_in(detail::ServerConnection& connection) {
  if (stopping_) return Error(Code::unavailable, "the server is stopping");
  // A login takes a stack as a call does, so it counts as a call of its address.
  const bool is_scarce = coroutine::Scheduler::current().stacks().is_scarce();
  if (connection.shares.is_counted() && !connection.shares.may_take(is_scarce)) {
    return Error(Code::resource_exhausted,
                 "the share of calls and logins of this address is taken already")
        .with_retry_after(options_.admission.retry_after);
  }
  // Copies, since the client may leave meanwhile.
  auto task = logins_.spawn(
      "rpc login",
      [this, id = connection.id(), login = connection.rules().login, token = connection.token(),
       keeps_session = connection.keeps_session(), session_token = connection.named_session(),
       address = std::string(connection.peer()),
       identity = std::string(connection.peer_identity())] {
        auto principal = login == nullptr
                             ? Result<Principal>(Principal())
                             : (*login)(token, {.address = address, .identity = identity});
        if (login != nullptr) {
          ++(principal ? statistics_.login_count : statistics_.refused_login_count);
        }
        detail::SessionTable::Found session;
        if (principal && keeps_session) {
          auto found = sessions_.find_anywhere(session_token, *principal);
          if (found) {
            session = *std::move(found);
          } else {
            principal = std::move(found.error());
          }
        }
        const auto found = connections_.find(id);
        const bool is_there =
            found != connections_.end() && found->second->logged_in(std::move(principal), session);
        sessions_.settle(session, is_there);
      });
  if (!task) return std::move(task.error()).with_retry_after(options_.admission.retry_after);
  connection.bind_login(*task);
  return {};
}

Result<void> Server::Impl::opened() {
  if (stopping_) return Error(Code::unavailable, "the server is stopping");
  return {};
}

void Server::Impl::ended(detail::ServerConnection& connection) {
  if (connection.broke_protocol()) ++statistics_.protocol_error_count;
  if (!connection.place) --turned_away_count_;
  statistics_.received_bytes += connection.received_bytes();
  statistics_.sent_bytes += connection.sent_bytes();
  const auto found = connections_.find(connection.id());
  ended_.bury(std::move(found->second));
  connections_.erase(found);
  some_left_.pulse();
}

Result<void> Server::Impl::stop(Deadline deadline) {
  stopping_ = true;
  for (Listening& listening : listenings_) close(listening);
  ask_clients_to_leave();
  dispatcher_.stop_streams();
  wait_for_clients_to_leave(earlier(deadline, Deadline::after(options_.leave_time_max)));
  dispatcher_.refuse_all();
  auto drained = dispatcher_.drain(deadline);
  accepting_.cancel_and_join();
  logins_.cancel_and_join();
  sessions_.stop(Error(Code::unavailable, "the server stops"));
  close_connections();
  connections_.clear();
  ended_.clear();
  listenings_.clear();
  return drained;
}

void Server::Impl::close(Listening& listening) {
  listening.is_closed = true;
  listening.listener->close();
}

void Server::Impl::dismiss_clients(std::size_t per_second, Deadline deadline) {
  for (Listening& listening : listenings_) {
    if (listening.options.door == Door::clients) close(listening);
  }
  std::vector<std::uint64_t> ids;
  for (const auto& [id, connection] : connections_) {
    if (connection->door() == Door::clients) ids.push_back(id);
  }
  // All have left in time.
  const auto seconds_max = std::chrono::duration_cast<std::chrono::seconds>(dismissal_time_max);
  per_second = std::max(per_second, ids.size() / static_cast<std::size_t>(seconds_max.count()));
  const std::size_t count_at_once = std::max<std::size_t>(1, per_second / dismissals_per_second);
  std::size_t count = 0;
  for (const std::uint64_t id : ids) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;
    found->second->cancel_streams();
    found->second->ask_to_leave();
    if (++count % count_at_once == 0 && !coroutine::sleep_for(dismissal_interval)) return;
    if (deadline.has_passed()) return;
  }
  const auto is_client = [](const auto& entry) { return entry.second->door() == Door::clients; };
  while (std::ranges::any_of(connections_, is_client)) {
    if (deadline.has_passed()) return;
    const auto waited =
        some_left_.wait(earlier(deadline, Deadline::after(dismissal_look_interval)));
    if (!waited && waited.error().code() != Code::deadline_exceeded) return;
    // Those that were about to log in.
    for (const auto& [id, connection] : connections_) {
      if (connection->door() == Door::clients) connection->ask_to_leave();
    }
  }
  // A client closes its connection before it arrives elsewhere.
  const Deadline claimed_by = earlier(deadline, Deadline::after(claim_time_max));
  while (sessions_.statistics().session_count > 0 && !claimed_by.has_passed()) {
    if (!coroutine::sleep_for(dismissal_interval)) return;
  }
}

void Server::Impl::ask_clients_to_leave() {
  std::vector<detail::ServerConnection*> open;
  open.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) open.push_back(connection.get());
  for (detail::ServerConnection* const connection : open) {
    connection->cancel_streams();
    connection->ask_to_leave();
  }
}

// Suspends until every client has sent its last request or is gone, or until the deadline.
void Server::Impl::wait_for_clients_to_leave(Deadline deadline) {
  const auto is_staying = [](const auto& entry) {
    return entry.second->is_open() && !entry.second->has_left();
  };
  while (std::ranges::any_of(connections_, is_staying)) {
    if (!some_left_.wait(deadline)) return;
  }
}

void Server::Impl::close_connections() {
  // The connections may end, and leave the map, while this waits.
  ended_.hold();
  std::vector<detail::ServerConnection*> open;
  open.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) open.push_back(connection.get());
  const Deadline deadline = Deadline::after(flush_time_max);
  for (detail::ServerConnection* const connection : open) {
    static_cast<void>(connection->stream().flush(deadline));
  }
  for (const auto& [id, connection] : connections_) connection->close();
}

Server::Statistics Server::Impl::statistics() const {
  Statistics statistics = statistics_;
  statistics.connection_count = connections_.size();
  for (const auto& [id, connection] : connections_) {
    statistics.received_bytes += connection->received_bytes();
    statistics.sent_bytes += connection->sent_bytes();
  }
  statistics.above_share_count = call_shares_.statistics().refused_count;
  statistics.client_bytes = client_bytes_.statistics();
  statistics.sessions = sessions_.statistics();
  dispatcher_.count_into(statistics);
  return statistics;
}

void Server::Impl::read_totals(Totals& totals) const {
  dispatcher_.read_totals(totals);
  totals.connection_count = connections_.size();
}

void Server::Impl::for_each_connection(
    const std::function<void(const ConnectionView&)>& see) const {
  for (const auto& [id, connection] : connections_) {
    see({.stream = std::as_const(*connection).stream(),
         .is_open = connection->is_open(),
         .running_count = connection->call_count(),
         .answered_count = connection->ended_call_count()});
  }
}

std::uint64_t Server::MethodStatistics::fault_count() const {
  return std::accumulate(fault_counts.begin(), fault_counts.end(), refused_fault_count);
}

Server::Server(net::Network& network, Options options)
    : impl_(std::make_unique<Impl>(network, options)) {}

Server::~Server() { static_cast<void>(impl_->stop(Deadline::passed())); }

Result<void> Server::add(Service& service, Audience audience) {
  return impl_->dispatcher().add(service, audience);
}

void Server::add_filter(ServerFilter filter, FilterSees sees) {
  impl_->dispatcher().add_filter(std::move(filter), sees);
}
void Server::add_observer(ServerObserver observer, const CallBar* bar) {
  impl_->dispatcher().add_observer({.look = std::move(observer), .bar = bar});
}

Result<net::Endpoint> Server::listen(const net::Endpoint& endpoint, ListenOptions options) {
  return impl_->listen(endpoint, std::move(options));
}

detail::Dispatcher& Server::dispatcher() { return impl_->dispatcher(); }

detail::PrincipalCounts& Server::principals() { return impl_->principals_of_all(); }

SessionAnswer Server::give_session(const SessionClaim& claim, Deadline deadline) {
  return impl_->sessions_of_all().give(claim, deadline);
}

std::shared_ptr<Session> Server::find_session(std::uint64_t number) const {
  return impl_->sessions_of_all().find(number);
}

void Server::for_each_session(const std::function<void(const Session&)>& see) const {
  impl_->sessions_of_all().for_each(see);
}

std::string Server::next_home_of_session(std::uint64_t number) const {
  return impl_->sessions_of_all().next_home(number);
}

void Server::set_limits(const Options& options) { impl_->set_limits(options); }

net::AddressShares& Server::call_shares() { return impl_->call_shares(); }

net::ByteBudget& Server::client_bytes() { return impl_->client_bytes(); }

void Server::dismiss_clients(std::size_t per_second, Deadline deadline) {
  impl_->dismiss_clients(per_second, deadline);
}

Result<void> Server::stop(Deadline deadline) {
  if (impl_->dispatcher().serves_here()) {
    return Error(Code::failed_precondition,
                 "stop() would wait for the handler that calls it: call it from another task");
  }
  return impl_->stop(deadline);
}

const Method* Server::find(std::string_view full_name, Door door) const {
  const auto* const served = impl_->dispatcher().methods().find(full_name);
  return is_there(served, door) ? served->method : nullptr;
}

std::vector<const Method*> Server::methods(const Service& service, Door door) const {
  std::vector<const Method*> methods;
  for (const Method& method : service.methods()) {
    const auto* const served = impl_->dispatcher().methods().find(method.id);
    if (is_there(served, door) && served->method == &method) methods.push_back(&method);
  }
  return methods;
}

std::vector<const Service*> Server::services() const {
  return impl_->dispatcher().methods().services();
}

Server::Statistics Server::statistics() const { return impl_->statistics(); }

void Server::read_totals(Totals& totals) const { impl_->read_totals(totals); }

void Server::for_each_connection(const std::function<void(const ConnectionView&)>& see) const {
  impl_->for_each_connection(see);
}

}  // namespace corolane::rpc
