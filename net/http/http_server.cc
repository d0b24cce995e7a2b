// SPDX-License-Identifier: MIT
#include "net/http/http_server.h"

#include <array>
#include <ctime>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "net/graveyard.h"
#include "net/http/detail/http_connection.h"
#include "net/http/detail/http_wire.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using detail::HttpConnection;
using detail::HttpMessages;

// How often make_room() looks for a connection that has begun to wait for its peer.
constexpr Duration slow_reader_look_interval = 1s;
// How long stop() lets a connection send its queued output.
constexpr Duration flush_time_max = 500ms;

// Connections without a place that are being answered 503. More are closed without a word: each
// holds a descriptor until its peer has read the answer.
constexpr std::size_t turned_away_count_max = 64;

// Enough for a busy server's usual load, not for its peak; those that a large message has grown are
// not kept. Together they take at most 16 MiB.
constexpr std::size_t idle_message_count_max = 1024;
constexpr std::size_t idle_body_bytes_max = 8 * 1024;

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7), made once a second.
class DateText {
 public:
  std::string_view at(TimePoint present) {
    if (!text_.empty() && present < next_) return text_;
    next_ = present + 1s;
    const std::time_t seconds = std::chrono::system_clock::to_time_t(
        std::chrono::floor<std::chrono::seconds>(time_of_day()));
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text;
    text_.assign(text.data(),
                 std::strftime(text.data(), text.size(), "%a, %d %b %Y %T GMT", &parts));
    return text_;
  }

 private:
  std::string text_;
  TimePoint next_;
};

// Runs a function for each request, in a task of its own.
class TaskPerRequest final : public HttpService {
 public:
  TaskPerRequest(HttpFiller filler, const coroutine::TaskOptions& options)
      : filler_(std::move(filler)), options_(options) {}

 private:
  bool serves_here() const override { return tasks_.has_running_task(); }
  void begin(HttpExchange& exchange) override {
    auto task = tasks_.spawn("http", [this, &exchange] { serve(exchange); }, options_);
    if (task) return exchange.bind(*task);
    exchange.response() = detail::bare_response(503);
    exchange.response().headers.add("Retry-After", "1");
    exchange.answer_at_once();
  }
  void serve(HttpExchange& exchange) {
    try {
      filler_(exchange.request(), exchange.response());
    } catch (...) {
      exchange.response() = detail::bare_response(500);
    }
    exchange.answer();
  }

  const HttpFiller filler_;
  const coroutine::TaskOptions options_;
  coroutine::TaskGroup tasks_;
};

}  // namespace

class HttpServer::Impl final : private HttpConnection::Host {
 public:
  Impl(Network& network, HttpService& service, const Options& options)
      : network_(network), service_(&service), options_(options) {}
  Impl(Network& network, HttpFiller filler, const Options& options)
      : network_(network),
        own_service_(std::in_place, std::move(filler), options.task),
        service_(&*own_service_),
        options_(options) {}

  Result<Endpoint> listen(const Endpoint& endpoint, bool shares_port);
  void set_connection_count_max(std::size_t count) {
    options_.connection_count_max = count;
    room_.pulse();
  }
  Result<void> stop(Deadline deadline);
  Statistics statistics() const;
  void for_each_connection(const std::function<void(const ConnectionView&)>& see) const {
    for (const auto& [id, connection] : connections_) {
      see({.stream = connection->stream(),
           .is_serving = connection->is_serving(),
           .answered_count = connection->answered_count()});
    }
  }

 private:
  void accept_all(Listener& listener);
  // Suspends until there is room for one more connection; false when there will be none.
  bool make_room();
  bool evict_idlest();
  void evict_slowest_reader();
  void admit(std::unique_ptr<Stream> stream);
  std::vector<HttpConnection*> open_connections() const;

  std::unique_ptr<HttpMessages> take_messages() override;
  void give_back(std::unique_ptr<HttpMessages> messages) override;
  void begin(HttpConnection& connection) override {
    ++statistics_.request_count;
    ++statistics_.serving_count;
    service_->begin(connection);
  }
  void answered(HttpConnection& connection) override;
  void request_refused() override { ++statistics_.refused_count; }
  std::string_view date() override {
    return options_.sends_date ? date_.at(now()) : std::string_view();
  }
  void ended(HttpConnection& connection) override;

  // Suspends until no request awaits its answer, or until the deadline.
  Result<void> wait_for_answers(Deadline deadline);

  Network& network_;
  std::optional<TaskPerRequest> own_service_;
  HttpService* const service_;
  Options options_;
  Statistics statistics_;
  DateText date_;
  bool stopping_ = false;
  std::uint64_t last_id_ = 0;
  std::size_t turned_away_count_ = 0;  // Connections without a place that are still open.
  std::vector<std::unique_ptr<HttpMessages>> idle_messages_;
  std::list<std::unique_ptr<Listener>> listeners_;
  std::unordered_map<std::uint64_t, std::unique_ptr<HttpConnection>> connections_;
  Graveyard<HttpConnection> ended_;
  coroutine::Event room_{"room for an http connection"};
  coroutine::Event all_answered_{"answers of an http server"};
  coroutine::TaskGroup accepting_;
};

Result<Endpoint> HttpServer::Impl::listen(const Endpoint& endpoint, bool shares_port) {
  auto listener = network_.listen(
      endpoint, {.stream = {.budget = options_.budget}, .shares_port = shares_port});
  if (!listener) return listener.error();
  listeners_.push_back(std::move(*listener));
  Listener& kept = *listeners_.back();
  auto spawned =
      accepting_.spawn("http accept", [this, &kept] { accept_all(kept); }, options_.task);
  if (!spawned) {
    listeners_.pop_back();
    return spawned.error();
  }
  return kept.local_endpoint();
}

void HttpServer::Impl::accept_all(Listener& listener) {
  while (!stopping_) {
    // Where a new connection evicts another, the old one stays until the new one has arrived.
    if (!options_.evicts_idle && !make_room()) return;
    auto stream = accept_next(listener, stopping_);
    if (stream == nullptr || !make_room()) return;
    admit(std::move(stream));
  }
}

bool HttpServer::Impl::make_room() {
  if (options_.connections != nullptr) return !stopping_;  // They are bounded there.
  while (!stopping_ && connections_.size() >= options_.connection_count_max) {
    if (options_.evicts_idle && evict_idlest()) continue;
    if (options_.evicts_idle) evict_slowest_reader();
    // A connection being served may begin to wait for its peer later, and no event reports it.
    const auto waited = room_.wait(options_.evicts_idle ? Deadline::after(slow_reader_look_interval)
                                                        : Deadline::never());
    if (!waited && waited.error().code() != Code::deadline_exceeded) return false;
  }
  return !stopping_;
}

// False when all have a request that is being answered.
bool HttpServer::Impl::evict_idlest() {
  HttpConnection* idlest = nullptr;
  for (const auto& [id, connection] : connections_) {
    if (connection->is_serving()) continue;
    const auto age = [](const HttpConnection& of) { return std::pair(of.idle_since(), of.id()); };
    if (idlest == nullptr || age(*connection) < age(*idlest)) idlest = connection.get();
  }
  if (idlest == nullptr) return false;
  idlest->close();
  return true;
}

// The evicted connection ends, and makes room, when its request is answered.
void HttpServer::Impl::evict_slowest_reader() {
  const auto since = [](const auto& entry) { return entry.second->sending_since(); };
  const auto slowest = std::ranges::min_element(connections_, {}, since);
  if (slowest == connections_.end() || since(*slowest) == TimePoint::max()) return;
  slowest->second->close();
}

void HttpServer::Impl::admit(std::unique_ptr<Stream> stream) {
  ++statistics_.accepted_count;
  ConnectionBound::Place place;
  if (options_.connections != nullptr) place = options_.connections->take(stream->peer_endpoint());
  const bool is_turned_away = options_.connections != nullptr && !place;
  if (is_turned_away) {
    ++statistics_.refused_connection_count;
    if (turned_away_count_ == turned_away_count_max) return;
    ++turned_away_count_;
  }
  const std::uint64_t id = ++last_id_;
  auto owned = std::make_unique<HttpConnection>(static_cast<HttpConnection::Host&>(*this), options_,
                                                id, std::move(stream));
  HttpConnection& connection = *owned;
  connection.place = std::move(place);
  connections_.emplace(id, std::move(owned));
  connection.start();
  if (is_turned_away) connection.turn_away();
}

std::vector<HttpConnection*> HttpServer::Impl::open_connections() const {
  std::vector<HttpConnection*> open;
  open.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) open.push_back(connection.get());
  return open;
}

Result<void> HttpServer::Impl::stop(Deadline deadline) {
  if (service_->serves_here()) {
    return Error(Code::failed_precondition,
                 "stop() would wait for the handler that calls it: call it from another task");
  }
  stopping_ = true;
  for (const auto& listener : listeners_) listener->close();
  for (HttpConnection* const connection : open_connections()) connection->leave();
  auto drained = wait_for_answers(deadline);
  if (!drained) {
    for (HttpConnection* const connection : open_connections()) {
      if (connection->is_serving()) connection->close();
    }
    while (statistics_.serving_count > 0) all_answered_.wait_uncancelled(Deadline::never());
  }
  accepting_.cancel_and_join();
  // Connections that end meanwhile leave the map.
  ended_.hold();
  const Deadline flushed = Deadline::after(flush_time_max);
  for (HttpConnection* const connection : open_connections()) {
    if (drained) static_cast<void>(connection->stream().flush(flushed));
  }
  for (HttpConnection* const connection : open_connections()) connection->close();
  ended_.clear();
  listeners_.clear();
  idle_messages_.clear();
  return drained;
}

Result<void> HttpServer::Impl::wait_for_answers(Deadline deadline) {
  while (statistics_.serving_count > 0) {
    if (auto waited = all_answered_.wait(deadline); !waited) return waited;
  }
  return {};
}

HttpServer::Statistics HttpServer::Impl::statistics() const {
  Statistics statistics = statistics_;
  statistics.connection_count = connections_.size();
  return statistics;
}

std::unique_ptr<HttpMessages> HttpServer::Impl::take_messages() {
  if (idle_messages_.empty()) return std::make_unique<HttpMessages>();
  auto messages = std::move(idle_messages_.back());
  idle_messages_.pop_back();
  return messages;
}

void HttpServer::Impl::give_back(std::unique_ptr<HttpMessages> messages) {
  const bool is_large = messages->request.body.capacity() > idle_body_bytes_max ||
                        messages->response.body.capacity() > idle_body_bytes_max;
  if (is_large || idle_messages_.size() == idle_message_count_max) return;
  idle_messages_.push_back(std::move(messages));
}

void HttpServer::Impl::answered(HttpConnection&) {
  --statistics_.serving_count;
  if (statistics_.serving_count == 0) all_answered_.pulse();
  if (options_.evicts_idle) room_.pulse();
}

void HttpServer::Impl::ended(HttpConnection& connection) {
  if (options_.connections != nullptr && !connection.place) --turned_away_count_;
  const auto found = connections_.find(connection.id());
  ended_.bury(std::move(found->second));
  connections_.erase(found);
  room_.pulse();
}

HttpServer::HttpServer(Network& network, HttpHandler handler, const Options& options)
    : HttpServer(network,
                 HttpFiller([handler = std::move(handler)](const HttpRequest& request,
                                                           HttpResponse& response) {
                   response = handler(request);
                 }),
                 options) {}

HttpServer::HttpServer(Network& network, HttpFiller filler, const Options& options)
    : impl_(std::make_unique<Impl>(network, std::move(filler), options)) {}

HttpServer::HttpServer(Network& network, HttpService& service, const Options& options)
    : impl_(std::make_unique<Impl>(network, service, options)) {}

HttpServer::~HttpServer() { static_cast<void>(impl_->stop(Deadline::passed())); }

Result<Endpoint> HttpServer::listen(const Endpoint& endpoint, bool shares_port) {
  return impl_->listen(endpoint, shares_port);
}

void HttpServer::set_connection_count_max(std::size_t count) {
  impl_->set_connection_count_max(count);
}

Result<void> HttpServer::stop(Deadline deadline) { return impl_->stop(deadline); }

void HttpServer::for_each_connection(const std::function<void(const ConnectionView&)>& see) const {
  impl_->for_each_connection(see);
}

HttpServer::Statistics HttpServer::statistics() const { return impl_->statistics(); }

}  // namespace corolane::net
