// SPDX-License-Identifier: MIT
#include "framework/client/cluster_client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/task.h"
#include "framework/routing/detail/receive_stream.h"
#include "net/crypto.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace {

// Transient failures: another server, or a later attempt, may succeed. The decision of a handler is
// final.
bool passes(const Error& error) {
  if (error.is_from_handler()) return false;
  switch (error.code()) {
    case Code::unavailable:
    case Code::aborted:
    case Code::cancelled:  // By a node that is stopping; there is no other canceller.
    case Code::deadline_exceeded:
      return true;
    case Code::resource_exhausted:
      // Other limits, such as that of a message, do not go away by themselves.
      return error.retry_after() > std::chrono::milliseconds(0);
    default:
      return false;
  }
}

// Clients with the same requester share the names of their callers.
std::string caller_of(const ClusterClient::Options& options) {
  if (options.connection.requester.empty()) return options.caller;
  std::string caller = options.caller + '-';
  constexpr std::size_t random_bytes = 8;
  for (const char byte : net::random_text(random_bytes)) {
    constexpr const char* digits = "0123456789abcdef";
    const auto number = static_cast<unsigned char>(byte);
    caller += {digits[number / 16], digits[number % 16]};
  }
  return caller;
}

rpc::Client::Options with_sink(rpc::Client::Options options, rpc::PushSink& sink,
                               bool keeps_session) {
  options.pushes = keeps_session ? &sink : nullptr;
  return options;
}

}  // namespace

struct ClusterClient::Call {
  const rpc::Method& method;
  Deadline deadline;
  bool has_request_id;
};

// The request id of one call, while it lasts.
class ClusterClient::RequestName {
 public:
  explicit RequestName(ClusterClient& client)
      : client_(client), sequence_(++client.last_sequence_) {
    auto& free = client.free_callers_;
    if (free.empty()) {
      const std::size_t number = ++client.caller_count_;
      caller_ = client.caller_;
      if (number > 1) caller_ += '/' + std::to_string(number);
    } else {
      caller_ = std::move(free.back());
      free.pop_back();
    }
  }
  ~RequestName() { client_.free_callers_.push_back(std::move(caller_)); }
  RequestName(const RequestName&) = delete;
  RequestName& operator=(const RequestName&) = delete;

  rpc::RequestId id() const { return {.caller = caller_, .sequence = sequence_}; }

 private:
  ClusterClient& client_;
  std::string caller_;
  const std::uint64_t sequence_;
};

ClusterClient::ClusterClient(net::Network& network, std::vector<net::HostPort> servers,
                             Options options)
    : options_(std::move(options)),
      has_several_servers_(servers.size() > 1),
      caller_(caller_of(options_)),
      inbox_([this](std::uint32_t group) { client_.unfollow(group); }, options_.connection.pushes),
      client_(network, std::move(servers),
              with_sink(options_.connection, inbox_, options_.keeps_session)) {
  if (options_.keeps_session) return;
  inbox_.end(Error(Code::failed_precondition,
                   "the client keeps no session: see ClusterClient::Options::keeps_session"));
}

void ClusterClient::close() {
  closed_.set();
  client_.close();
  inbox_.close();
}

Result<void> ClusterClient::call(const rpc::Method& method, const std::string& id,
                                 const google::protobuf::Message& request,
                                 google::protobuf::Message& reply,
                                 const rpc::CallOptions& options) {
  std::optional<RequestName> name;
  if (options_.has_request_ids && !options.request_id) name.emplace(*this);
  const rpc::RequestId request_id = name ? name->id() : options.request_id;
  const rpc::ObjectTarget target{.id = id, .request_id = request_id};
  const Call call{.method = method,
                  .deadline = deadline_of(options),
                  .has_request_id = static_cast<bool>(request_id)};
  CallRecord record{.method = &method,
                    .object = id,
                    .caller = request_id ? request_id.caller : options_.caller,
                    .sequence = request_id.sequence,
                    .begin = options_.clock(),
                    .end = {},
                    .errors = {}};
  auto result = call_until_final(call, record.errors, [&] {
    rpc::CallOptions own = options;
    own.deadline = earlier(call.deadline, Deadline::after(method.timeout));
    own.request_id = request_id;
    own.object = &target;
    return client_.call(method, request, reply, own);
  });
  if (options_.observer == nullptr) return result;
  record.end = options_.clock();
  if (!result) record.failure = result.error().code();
  options_.observer->on_call(record, request, reply);
  return result;
}

Deadline ClusterClient::deadline_of(const rpc::CallOptions& options) const {
  Deadline deadline = options.deadline.value_or(Deadline::after(options_.patience));
  // Inside a handler no call outlasts it.
  if (const rpc::CallScope* const scope = rpc::CallScope::current()) {
    deadline = earlier(deadline, scope->deadline_of_calls());
  }
  return options_.has_request_ids
             ? earlier(deadline, Deadline::after(rpc::RequestId::retry_time_max))
             : deadline;
}

Result<void> ClusterClient::stream(const rpc::Method& method, const std::string& id,
                                   const google::protobuf::Message& request, rpc::Messages& sink,
                                   const rpc::CallOptions& options) {
  const rpc::ObjectTarget target{.id = id};
  rpc::CallOptions own = options;
  own.deadline = options.deadline.value_or(Deadline::after(method.timeout));
  own.object = &target;
  const Call call{.method = method, .deadline = *own.deadline, .has_request_id = false};
  std::vector<Code> errors;
  return call_until_final(
      call, errors, [&] { return detail::receive_stream(client_, method, request, sink, own); });
}

Result<void> ClusterClient::notify(const rpc::Method& method, const std::string& id,
                                   const google::protobuf::Message& request,
                                   const rpc::CallOptions& options) {
  const rpc::ObjectTarget target{.id = id};
  rpc::CallOptions own = options;
  own.object = &target;
  return client_.notify(method, request, own);
}

bool ClusterClient::may_repeat(const Call& call, const Error& error) const {
  if (!passes(error) || closed_.is_set() || coroutine::is_cancelled()) return false;
  const rpc::Method& method = call.method;
  const bool is_repeatable =
      call.has_request_id || (!method.server_streaming && (method.idempotent || method.read_only));
  if (!is_repeatable && !error.not_executed()) return false;
  // An object with no room for one more caller asks for a delay of minutes.
  return Deadline::after(error.retry_after()) < call.deadline;
}

Result<void> ClusterClient::call_until_final(const Call& call, std::vector<Code>& errors,
                                             const Attempt& attempt) {
  std::optional<Error> failure;  // Has the marks of all attempts so far.
  std::uint64_t failing_connection = 0;
  TimePoint failing_since;
  Duration failing_time_max = options_.failing_time_max;
  for (Duration delay = options_.retry_delay_min;;
       delay = std::min(delay * 2, options_.retry_delay_max)) {
    auto result = attempt();
    if (result) return result;
    const Error error = result.error();
    failure = failure ? std::move(result.error()).with_attempt(*failure) : error;
    if (!may_repeat(call, error)) return *failure;
    errors.push_back(error.code());

    const std::uint64_t connection = client_.statistics().connect_count;
    if (connection != failing_connection) {
      failing_connection = connection;
      failing_since = now();
    }
    // Only this says that the server does not reach the owner. Overload, a late handler or a cycle
    // of calls is no reason to leave.
    if (has_several_servers_ && error.code() == Code::unavailable &&
        now() - failing_since >= failing_time_max) {
      client_.leave_server();
      failing_time_max *= 2;
    }

    const Deadline next = Deadline::after(std::max<Duration>(delay, error.retry_after()));
    if (next >= call.deadline) return *failure;
    auto closed = closed_.wait(next);
    if (closed) return Error(Code::unavailable, "the client was closed").with_attempt(*failure);
    if (closed.error().code() != Code::deadline_exceeded) {
      return std::move(closed.error()).with_attempt(*failure);
    }
  }
}

}  // namespace corolane::framework
