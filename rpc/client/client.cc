// SPDX-License-Identifier: MIT
// The public interface of Client, and its calls: filters, attempts, retries. Connecting is in
// detail/client_connecting.cc.
#include "rpc/client/client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "rpc/call_scope.h"
#include "rpc/client/detail/client_impl.h"
#include "rpc/detail/filter_chain.h"
#include "rpc/wire/request_extension.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;

// True when the handler has not begun or may run twice, and the next attempt may succeed.
bool is_worth_a_retry(const Error& error, const Method& method) {
  if (!error.not_executed() && !method.idempotent) return false;
  if (error.code() == Code::unavailable) return true;
  // A loaded server says when to come back; other limits do not go away by themselves.
  return error.code() == Code::resource_exhausted && error.retry_after() > 0ms;
}

Result<void> check_headers(const Method& method, const CallOptions& options) {
  if (options.headers == nullptr) return {};
  auto sendable = options.headers->check();
  if (sendable) return {};
  return std::move(sendable.error()).with_context(method.full_name).with_not_executed();
}

// The error of a call that failed before its request was sent.
template <typename T>
Error not_sent(Result<T>& failed) {
  return std::move(failed.error()).with_not_executed();
}

}  // namespace

Result<void> Client::Impl::make_with_extension(OutgoingCall& call, Make make,
                                               const google::protobuf::Message* reply) {
  if (auto sendable = check_headers(call.method, call.options); !sendable) return sendable;
  const ExtensionBytes extension(call.trace, call.options.principal, call.options.object,
                                 call.options.headers);
  auto made = make(call, extension.view());
  if (made) call.reply = reply;
  return made;
}

Result<void> Client::Impl::with_filters(const Method& method,
                                        const google::protobuf::Message& request,
                                        CallOptions& options, Make make,
                                        const google::protobuf::Message* reply) {
  OutgoingCall call{.method = method, .request = request, .options = options, .peer = peer_name()};
  if (const CallScope* const scope = CallScope::current()) call.trace = scope->trace;
  return detail::with_filters(options_.filters, call,
                              [&] { return make_with_extension(call, make, reply); });
}

Deadline Client::Impl::deadline_of(const Method& method, const CallOptions& options) {
  const Deadline own = options.deadline ? *options.deadline : Deadline::after(method.timeout);
  const CallScope* const scope = CallScope::current();
  return scope == nullptr ? own : earlier(own, scope->deadline_of_calls());
}

// Most clients have no filters, and only filters change the options: they need no copy.
inline Result<void> Client::Impl::call_without_filters(const Method& method,
                                                       const google::protobuf::Message& request,
                                                       google::protobuf::Message& reply,
                                                       const CallOptions& options) {
  if (auto sendable = check_headers(method, options); !sendable) return sendable;
  const CallScope* const scope = CallScope::current();
  const ExtensionBytes extension(scope == nullptr ? TraceContext{} : scope->trace,
                                 options.principal, options.object, options.headers);
  return call_until_final(method, request, reply, options, extension.view());
}

Result<void> Client::Impl::call_with_filters(const Method& method,
                                             const google::protobuf::Message& request,
                                             google::protobuf::Message& reply,
                                             CallOptions options) {
  return with_filters(
      method, request, options,
      [&](const OutgoingCall& call, std::string_view extension) {
        return call_until_final(method, request, reply, call.options, extension);
      },
      &reply);
}

Result<void> Client::Impl::call(const Method& method, const google::protobuf::Message& request,
                                google::protobuf::Message& reply, const CallOptions& options) {
  ++task_count_;
  ++statistics_.call_count;
  retries_.call_made();
  auto result = options_.filters.empty() ? call_without_filters(method, request, reply, options)
                                         : call_with_filters(method, request, reply, options);
  if (!result) {
    ++statistics_.error_count;
    ++statistics_.error_counts[static_cast<std::size_t>(result.error().code())];
    result = std::move(result.error()).with_origin(Origin::runtime);
  }
  --task_count_;
  return result;
}

Result<void> Client::Impl::call_until_final(const Method& method,
                                            const google::protobuf::Message& request,
                                            google::protobuf::Message& reply,
                                            const CallOptions& options,
                                            const std::string_view& extension) {
  const Deadline deadline = deadline_of(method, options);
  std::optional<Error> failure;
  for (int failed_count = 1;; ++failed_count) {
    if (options.reply_headers != nullptr) *options.reply_headers = {};
    Attempt attempt = try_call(method, request, reply, options.reply_headers, deadline, extension);
    if (attempt.result) return std::move(attempt.result);
    if (failure) attempt.result = std::move(attempt.result.error()).with_attempt(*failure);
    failure = attempt.result.error();
    if (!wait_for_retry(attempt, method, failed_count, deadline)) return *failure;
  }
}

Client::Impl::Attempt Client::Impl::try_call(const Method& method,
                                             const google::protobuf::Message& request,
                                             google::protobuf::Message& reply,
                                             ReplyHeaders* reply_headers, Deadline deadline,
                                             const std::string_view& extension) {
  if (auto may = check_may_call(method, deadline); !may) return {.result = not_sent(may)};
  auto connection = this->connection(deadline);
  if (!connection) return {.result = not_sent(connection)};
  return {.result = (*connection)->call(method, request, reply, reply_headers, deadline, extension),
          .was_sent = true};
}

Result<void> Client::Impl::check_may_call(const Method& method, Deadline deadline) const {
  if (closed_) return *closed_;
  const std::size_t pending = current_ == nullptr ? 0 : current_->pending_count();
  if (pending + waiting_count_ >= options_.pending_count_max) {
    return Error(Code::resource_exhausted, std::to_string(pending + waiting_count_) + " calls to " +
                                               peer_name() + " are pending already");
  }
  if (deadline.has_passed()) {
    return Error(Code::deadline_exceeded,
                 std::string("the deadline passed before the call of ") + method.full_name);
  }
  if (coroutine::is_cancelled()) {
    return Error(Code::cancelled, std::string("cancelled before the call of ") + method.full_name);
  }
  return {};
}

bool Client::Impl::wait_for_retry(const Attempt& attempt, const Method& method, int failed_count,
                                  Deadline deadline) {
  const Error& error = attempt.result.error();
  if (closed_ || !attempt.was_sent || !is_worth_a_retry(error, method)) return false;
  const Duration delay =
      std::max<Duration>(error.retry_after(), Duration::zero()) +
      delay_after(options_.retry_delay_min, options_.reconnect_delay_max, failed_count);
  if (!deadline.is_never() && deadline.remaining() <= delay) return false;
  if (!retries_.take()) return false;
  ++statistics_.retry_count;
  return coroutine::sleep_for(delay).has_value();
}

Duration Client::Impl::delay_after(Duration first, Duration longest, int failed_count) {
  const Duration range = std::min(longest, first * (1 << std::min(failed_count - 1, 20)));
  return range / 2 + jitter_.up_to(range / 2);
}

Result<void> Client::Impl::notify(const Method& method, const google::protobuf::Message& request,
                                  CallOptions options) {
  ++task_count_;
  auto result =
      with_filters(method, request, options,
                   [&](const OutgoingCall& call, std::string_view extension) -> Result<void> {
                     const Deadline deadline = deadline_of(method, call.options);
                     if (auto may = check_may_call(method, deadline); !may) return not_sent(may);
                     auto connection = this->connection(deadline);
                     if (!connection) return not_sent(connection);
                     return (*connection)->notify(method, request, deadline, extension);
                   });
  --task_count_;
  return result;
}

Client::Statistics Client::Impl::statistics() const {
  Statistics statistics = statistics_;
  for (const auto& connection : old_) statistics.pending_count += connection->pending_count();
  if (current_) statistics.pending_count += current_->pending_count();
  return statistics;
}

Client::Client(net::Network& network, net::HostPort peer, Options options)
    : Client(network, std::vector{std::move(peer)}, std::move(options)) {}

Client::Client(net::Network& network, std::vector<net::HostPort> servers, Options options)
    : impl_(std::make_unique<Impl>(network, std::move(servers), std::move(options))) {}

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(net::Network& network, const net::HostPort& peer,
                                                Deadline deadline) {
  return connect(network, peer, deadline, Options{});
}

Result<std::unique_ptr<Client>> Client::connect(net::Network& network, const net::HostPort& peer,
                                                Deadline deadline, Options options) {
  auto client = std::make_unique<Client>(network, peer, std::move(options));
  if (auto connected = client->wait_until_connected(deadline); !connected) {
    return std::move(connected.error());
  }
  return client;
}

Result<void> Client::call(const Method& method, const google::protobuf::Message& request,
                          google::protobuf::Message& reply, const CallOptions& options) {
  return impl_->call(method, request, reply, options);
}

Result<void> Client::notify(const Method& method, const google::protobuf::Message& request,
                            const CallOptions& options) {
  return impl_->notify(method, request, options);
}

Result<void> Client::wait_until_connected(Deadline deadline) {
  return impl_->wait_until_connected(deadline);
}

bool Client::is_connected() const { return impl_->is_connected(); }

Client::Statistics Client::statistics() const { return impl_->statistics(); }

void Client::see_connection(const std::function<void(const ConnectionView&)>& see) const {
  impl_->see_connection(see);
}

void Client::unfollow(std::uint32_t group) { impl_->unfollow(group); }

void Client::leave_server() { impl_->leave_server(); }

void Client::close() { impl_->close(); }

}  // namespace corolane::rpc
