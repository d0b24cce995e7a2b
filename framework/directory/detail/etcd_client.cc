// SPDX-License-Identifier: MIT
#include "framework/directory/detail/etcd_client.h"

#include <utility>
#include <vector>

#include "coroutine/sync/semaphore.h"
#include "framework/directory/detail/etcd_json.h"
#include "net/http/http_client.h"

namespace corolane::framework::detail {
namespace {

net::HttpRequest http_request(const EtcdRequest& request, const std::string& token) {
  net::HttpRequest http{.method = "POST",
                        .target = std::string(request.path),
                        .body = request.body,
                        // Makes a member without a leader fail at once. Without this calls would
                        // time out, and a watch would never end.
                        .headers = {{"Grpc-Metadata-Hasleader", "true"}}};
  if (!token.empty()) http.headers.add("Authorization", token);
  return http;
}

}  // namespace

struct EtcdClient::Connection {
  std::size_t member = 0;
  std::unique_ptr<net::HttpClient> client = {};
};

// The connections for calls of one kind. The last used one is reused first, so no more than needed
// are open.
class EtcdClient::Lane {
 public:
  Lane(std::size_t connection_count, net::Network& network, const Options& options)
      : login(network, options), free_(connection_count, "connection to etcd") {}

  // The use of a connection, for one call at a time.
  Result<coroutine::Semaphore::Permit> permit(Deadline deadline) { return free_.hold(deadline); }

  // With a permit.
  Connection take() {
    if (idle_.empty()) return {};
    Connection connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  void give_back(Connection connection) { idle_.push_back(std::move(connection)); }

  EtcdLogin login;

 private:
  std::vector<Connection> idle_;
  coroutine::Semaphore free_;
};

EtcdClient::EtcdClient(net::Network& network, const Options& options)
    : network_(network),
      options_(options),
      limits_{.body_bytes_max = options.response_bytes_max},
      calls_(std::make_unique<Lane>(options.connection_count_max, network, options)),
      calls_at_once_(std::make_unique<Lane>(1, network, options)) {}

EtcdClient::~EtcdClient() = default;

Result<std::string> EtcdClient::call(const EtcdRequest& request, Deadline deadline) {
  return call_by(*calls_, request, deadline);
}

Result<std::string> EtcdClient::call_at_once(const EtcdRequest& request, Deadline deadline) {
  return call_by(*calls_at_once_, request, deadline);
}

Result<std::string> EtcdClient::call_by(Lane& lane, const EtcdRequest& request, Deadline deadline) {
  return ask_members<std::string>(
      request, deadline, [&](std::size_t member, Deadline end) -> Result<std::string> {
        auto permit = lane.permit(end);
        if (!permit) return permit.error();
        Connection connection = lane.take();
        auto answer = send_with_token<std::string>(
            lane.login, member, request, end,
            [&](const net::HttpRequest& http) { return exchange(connection, member, http, end); });
        lane.give_back(std::move(connection));
        return answer;
      });
}

Result<net::HttpLines> EtcdClient::watch(const EtcdRequest& request, Deadline deadline) {
  return ask_members<net::HttpLines>(request, deadline, [&](std::size_t member, Deadline end) {
    return send_with_token<net::HttpLines>(
        calls_->login, member, request, end,
        [&](const net::HttpRequest& http) { return open(member, http, end); });
  });
}

template <typename T, typename Attempt>
Result<T> EtcdClient::ask_members(const EtcdRequest& request, Deadline deadline, Attempt attempt) {
  const TimePoint start = now();
  const Deadline end = earlier(deadline, Deadline::after(options_.request_time_max));
  bool maybe_executed = false;
  for (std::size_t left_count = 0;; ++left_count) {
    const std::size_t member = member_;
    Result<T> answer = attempt(member, end);
    if (answer) return answer;
    Error& error = answer.error();
    maybe_executed = maybe_executed || error.maybe_executed();
    const bool is_away = error.code() == Code::unavailable;
    const bool is_silent = error.code() == Code::deadline_exceeded;
    // A timeout of a caller in a hurry says nothing about the member.
    if (is_away || (is_silent && now() - start >= options_.request_time_max / 4)) leave(member);
    if (is_away && left_count < options_.endpoints.size() &&
        (request.is_repeatable || !maybe_executed)) {
      continue;
    }
    if (is_silent && !deadline.has_passed()) {
      error = Error(Code::unavailable, "etcd does not answer: " + error.message());
    }
    if (maybe_executed) error = std::move(error).with_maybe_executed();
    return answer;
  }
}

template <typename T, typename Send>
Result<T> EtcdClient::send_with_token(EtcdLogin& login, std::size_t member,
                                      const EtcdRequest& request, Deadline deadline, Send send) {
  for (bool is_first = true;; is_first = false) {
    auto token = login.token(options_.endpoints[member], deadline);
    if (!token) return std::move(token.error());
    Result<T> answer = send(http_request(request, *token));
    if (answer || !is_etcd_token_refused(answer.error()) || !login.has_user()) return answer;
    login.forget(*token);
    if (!is_first) return answer;
  }
}

void EtcdClient::leave(std::size_t member) {
  if (member_ == member) member_ = (member + 1) % options_.endpoints.size();
}

Result<std::string> EtcdClient::exchange(Connection& connection, std::size_t member,
                                         const net::HttpRequest& request, Deadline deadline) {
  if (connection.client == nullptr || connection.member != member) {
    connection = {
        .member = member,
        .client = std::make_unique<net::HttpClient>(network_, options_.endpoints[member], limits_)};
  }
  auto response = connection.client->fetch(request, deadline);
  if (!response) return etcd_out_of_reach(std::move(response.error()));
  if (auto checked = check_etcd_answer(response->status, response->body); !checked) {
    return std::move(checked.error());
  }
  return std::move(response->body);
}

Result<net::HttpLines> EtcdClient::open(std::size_t member, const net::HttpRequest& request,
                                        Deadline deadline) {
  auto lines =
      net::HttpLines::open(network_, options_.endpoints[member], request, deadline, limits_);
  if (!lines) return etcd_out_of_reach(std::move(lines.error()));
  const auto first = lines->next_line(deadline);
  if (!first) return etcd_out_of_reach(first.error());
  if (auto checked = check_etcd_answer(lines->head().status, *first); !checked) {
    return std::move(checked.error());
  }
  return lines;
}

}  // namespace corolane::framework::detail
