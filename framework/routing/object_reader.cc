// SPDX-License-Identifier: MIT
#include "framework/routing/object_reader.h"

#include <optional>
#include <string>

#include "coroutine/task_group.h"
#include "framework/routing/router.h"
#include "framework/wire/detail/message_pipe.h"
#include "framework/wire/detail/object_error.h"
#include "rpc/principal.h"

namespace corolane::framework {

struct ObjectStream::State {
  State(const rpc::Method& its_method, const std::string& its_id,
        const rpc::CallOptions& its_options)
      : method(its_method),
        id(its_id),
        request(its_method.new_request(nullptr)),
        options(its_options),
        pipe(its_method.full_name) {
    if (options.headers != nullptr) options.headers = &headers.emplace(*options.headers);
    if (options.principal != nullptr) options.principal = &principal.emplace(*options.principal);
    options.reply_headers = &reply_headers;
  }

  // In a task of its own.
  void run(Router& router) {
    result = router.stream(method, id, *request, pipe, options);
    pipe.end();
  }

  const rpc::Method& method;
  const std::string id;
  const std::unique_ptr<google::protobuf::Message> request;
  std::optional<rpc::Headers> headers;
  std::optional<rpc::Principal> principal;
  rpc::CallOptions options;
  rpc::ReplyHeaders reply_headers;
  detail::MessagePipe pipe;
  std::optional<Result<void>> result;  // Set when the stream has ended, or was abandoned.
  coroutine::TaskGroup task;           // Ends first: it uses the rest.
};

ObjectStream::ObjectStream(Router& router, const rpc::Method& method, const std::string& id,
                           const google::protobuf::Message& request,
                           const rpc::CallOptions& options)
    : state_(std::make_unique<State>(method, id, options)) {
  state_->request->CopyFrom(request);
  const auto begin = [&]() -> Result<coroutine::TaskRef> {
    if (options.request_id) return detail::stream_is_not_remembered(method);
    return state_->task.spawn(method.full_name,
                              [state = state_.get(), &router] { state->run(router); },
                              {.stack_size_bytes = method.stack_size_bytes});
  };
  auto spawned = begin();
  if (spawned) return;
  state_->result = std::move(spawned.error()).with_not_executed();
  state_->pipe.end();
}

ObjectStream::~ObjectStream() = default;
ObjectStream::ObjectStream(ObjectStream&&) noexcept = default;
ObjectStream& ObjectStream::operator=(ObjectStream&&) noexcept = default;

std::unique_ptr<google::protobuf::Message> ObjectStream::read() {
  auto next = state_->pipe.take();
  if (next) return *std::move(next);
  static_cast<void>(finish());
  return nullptr;
}

Result<void> ObjectStream::finish() {
  State& state = *state_;
  if (!state.result || !state.pipe.is_empty()) {
    Error abandoned(Code::cancelled, std::string("the stream of ") + state.method.full_name +
                                         " was abandoned before its end");
    state.pipe.leave(abandoned);
    state.task.cancel_and_join();
    state.result = std::move(abandoned);
  }
  return *state.result;
}

const rpc::ReplyHeaders& ObjectStream::reply_headers() const { return state_->reply_headers; }

}  // namespace corolane::framework
