// SPDX-License-Identifier: MIT
#include "framework/routing/remote_router.h"

#include <algorithm>

#include "coroutine/task.h"
#include "framework/routing/detail/receive_stream.h"

namespace corolane::framework {
namespace {

// Transient failures: another node, or a later attempt, may succeed. What a handler has decided is
// final.
bool passes(const Error& error) {
  if (error.is_from_handler()) return false;
  switch (error.code()) {
    case Code::unavailable:
    case Code::aborted:
    case Code::cancelled:  // By a node that is stopping; there is no other canceller.
    case Code::deadline_exceeded:
    case Code::resource_exhausted:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<void> RemoteRouter::call(const rpc::Method& method, const std::string& id,
                                const google::protobuf::Message& request,
                                google::protobuf::Message& reply, const rpc::CallOptions& options) {
  const Call call{.method = method,
                  .id = id,
                  .request = request,
                  .sequence = options_.has_request_ids ? ++last_sequence_ : 0,
                  .deadline = deadline_of(options)};
  CallRecord record{.method = &method,
                    .object = id,
                    .caller = options_.caller,
                    .sequence = call.sequence,
                    .begin = options_.clock(),
                    .end = {},
                    .errors = {}};
  auto result = call_until_final(call, record.errors, [&](rpc::Client& client) {
    return try_call(client, call, reply, record.errors);
  });
  record.end = options_.clock();
  if (!result) record.failure = result.error().code();
  observer_.on_call(record, request, reply);
  return result;
}

Deadline RemoteRouter::deadline_of(const rpc::CallOptions& options) const {
  const Deadline deadline = options.deadline.value_or(Deadline::after(options_.patience));
  return options_.has_request_ids
             ? earlier(deadline, Deadline::after(rpc::RequestId::retry_time_max))
             : deadline;
}

Result<void> RemoteRouter::stream(const rpc::Method& method, const std::string& id,
                                  const google::protobuf::Message& request, rpc::Messages& sink,
                                  const rpc::CallOptions& options) {
  const rpc::ObjectTarget target{.id = id};
  rpc::CallOptions own = options;
  own.deadline = options.deadline.value_or(Deadline::after(method.timeout));
  own.object = &target;
  const Call call{
      .method = method, .id = id, .request = request, .sequence = 0, .deadline = *own.deadline};
  std::vector<Code> errors;
  return call_until_final(call, errors, [&](rpc::Client& client) {
    return detail::receive_stream(client, method, request, sink, own);
  });
}

Result<void> RemoteRouter::call_until_final(const Call& call, std::vector<Code>& errors,
                                            const Attempt& attempt) {
  for (Duration delay = options_.retry_delay_min;;
       delay = std::min(delay * 2, options_.retry_delay_max)) {
    const std::size_t place = moved_count_;
    const auto client = connect(call.deadline);
    auto result = client ? attempt(**client) : Result<void>(client.error());
    if (result || !passes(result.error())) return result;
    const bool is_repeatable =
        call.sequence != 0 ||
        (!call.method.server_streaming && (call.method.idempotent || call.method.read_only));
    if (!is_repeatable && !result.error().not_executed()) return result;
    // An object with no room for one more caller asks for a delay of minutes.
    const Duration wanted_delay = result.error().retry_after();
    if (coroutine::is_cancelled() || Deadline::after(wanted_delay) >= call.deadline) return result;
    errors.push_back(result.error().code());
    // A handler that takes too long is no reason to leave its node. Another call may have moved on
    // already.
    const bool is_late =
        client && (*client)->is_connected() && result.error().code() == Code::deadline_exceeded;
    if (!is_late && moved_count_ == place) {
      client_.reset();
      ++moved_count_;
    }
    // The first other node is tried at once.
    if (errors.size() == 1) continue;
    const Deadline next = Deadline::after(std::max(delay, wanted_delay));
    if (auto slept = coroutine::sleep_until(earlier(next, call.deadline)); !slept) return slept;
  }
}

Result<void> RemoteRouter::try_call(rpc::Client& client, const Call& call,
                                    google::protobuf::Message& reply, std::vector<Code>& errors) {
  rpc::ObjectTarget target{.id = call.id};
  if (call.sequence != 0) {
    target.request_id = {.caller = options_.caller, .sequence = call.sequence};
  }
  const std::uint64_t retries_before = client.statistics().retry_count;
  auto result =
      client.call(call.method, call.request, reply,
                  {.deadline = earlier(call.deadline, Deadline::after(call.method.timeout)),
                   .request_id = target.request_id,
                   .object = &target});
  // The client has itself retried refused attempts.
  errors.insert(errors.end(), client.statistics().retry_count - retries_before, Code::unavailable);
  return result;
}

Result<std::shared_ptr<rpc::Client>> RemoteRouter::connect(Deadline deadline) {
  if (client_ != nullptr) return client_;
  const std::size_t place = moved_count_;
  const net::HostPort& server = servers_[(options_.first + place) % servers_.size()];
  auto client = rpc::Client::connect(network_, server,
                                     earlier(deadline, Deadline::after(options_.connect_time_max)),
                                     {.unreachable_after = std::chrono::milliseconds(0),
                                      .keepalive = {.interval = options_.silence_time_max / 2,
                                                    .patience = options_.silence_time_max / 2},
                                      .requester = requester_});
  if (!client) return std::move(client.error()).with_not_executed();
  std::shared_ptr<rpc::Client> connected = *std::move(client);
  if (moved_count_ == place) client_ = connected;
  return connected;
}

Result<void> RemoteRouter::notify(const rpc::Method& method, const std::string&,
                                  const google::protobuf::Message&, const rpc::CallOptions&) {
  return Error(Code::unimplemented, std::string(method.full_name) + " has no reply");
}

}  // namespace corolane::framework
