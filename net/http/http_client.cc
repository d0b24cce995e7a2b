// SPDX-License-Identifier: MIT
#include "net/http/http_client.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <utility>

#include "net/http/detail/http_wire.h"

namespace corolane::net {
namespace {

// RFC 9110, 9.2.2.
bool is_idempotent(std::string_view method) {
  constexpr std::string_view methods[] = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
  return std::ranges::find(methods, method) != std::end(methods);
}

}  // namespace

class HttpClient::Connection {
 public:
  Connection(std::unique_ptr<Stream> stream, const HttpOptions& options)
      : stream_(std::move(stream)), reader_(*stream_, options) {}

  Result<HttpResponse> exchange(const HttpRequest& request, std::string_view text,
                                Deadline deadline) {
    auto response = detail::exchange(*stream_, text, deadline, [&] {
      return reader_.read_response(request.method == "HEAD", deadline);
    });
    idle_since_ = now();
    return response;
  }

  bool has_answered() const { return reader_.has_begun(); }
  bool keeps_alive() const { return reader_.keeps_alive(); }
  TimePoint idle_since() const { return idle_since_; }
  // False when the server has finished, the connection broke, or an unsolicited response came: a
  // 408, mostly. Never suspends.
  bool is_silent() {
    std::array<std::byte, 1> unasked;
    const auto read = stream_->read_some(unasked, Deadline::passed());
    return !read && (read.error().code() == Code::deadline_exceeded ||
                     read.error().code() == Code::cancelled);
  }

 private:
  std::unique_ptr<Stream> stream_;
  detail::HttpReader reader_;
  TimePoint idle_since_{};
};

HttpClient::HttpClient(Network& network, HostPort host, const HttpOptions& options)
    : network_(network), host_(std::move(host)), options_(options) {}

HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::fetch(const HttpRequest& request, Deadline deadline) {
  const auto text = detail::to_text(request, host_, /*keep_alive=*/true);
  if (!text) return text.error();
  if (auto turn = coroutine::perform(turn_.locking(), deadline); !turn) {
    return std::move(turn.error()).with_context("HTTP connection to " + host_.host);
  }
  const std::lock_guard held(turn_, std::adopt_lock);

  drop_stale_connection();
  const bool was_kept = connection_ != nullptr;
  auto response = attempt(request, *text, deadline);
  if (was_kept && is_unanswered(response) && is_idempotent(request.method)) {
    connection_.reset();
    response = attempt(request, *text, deadline);
    if (!response) response = std::move(response.error()).with_maybe_executed();
  }
  if (!response || !connection_->keeps_alive()) connection_.reset();
  return response;
}

void HttpClient::drop_stale_connection() {
  if (connection_ == nullptr) return;
  const bool is_fresh = now() - connection_->idle_since() < options_.idle_time_max;
  if (!is_fresh || !connection_->is_silent()) connection_.reset();
}

bool HttpClient::is_unanswered(const Result<HttpResponse>& response) const {
  return !response && response.error().code() == Code::unavailable && !connection_->has_answered();
}

Result<HttpResponse> HttpClient::attempt(const HttpRequest& request, const std::string& text,
                                         Deadline deadline) {
  if (connection_ == nullptr) {
    auto stream = connect_to(network_, host_, deadline);
    if (!stream) return stream.error();
    connection_ = std::make_unique<Connection>(*std::move(stream), options_);
  }
  auto response = connection_->exchange(request, text, deadline);
  if (!response) return detail::lost(std::move(response.error()), request, host_);
  return response;
}

Result<HttpResponse> fetch_http(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options) {
  const auto text = detail::to_text(request, host, /*keep_alive=*/false);
  if (!text) return text.error();
  auto stream = connect_to(network, host, deadline);
  if (!stream) return stream.error();
  detail::HttpReader reader(**stream, options);
  auto response = detail::exchange(**stream, *text, deadline, [&] {
    return reader.read_response(request.method == "HEAD", deadline);
  });
  if (!response) return detail::lost(std::move(response.error()), request, host);
  return response;
}

}  // namespace corolane::net
