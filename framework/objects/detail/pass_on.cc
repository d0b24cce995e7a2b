// SPDX-License-Identifier: MIT
#include "framework/objects/detail/pass_on.h"

#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "framework/objects/detail/owners.h"

namespace corolane::framework::detail {

Result<void> pass_on(Owners& owners, const rpc::Method& method,
                     const google::protobuf::Message& request, rpc::Context& context,
                     rpc::Messages& sink) {
  const rpc::ObjectTarget& target = *context.object();
  const rpc::CallOptions options{.deadline = context.deadline(),
                                 .request_id = target.request_id,
                                 .headers = &context.headers(),
                                 .reply_headers = &context.made_reply_headers(),
                                 .principal = &context.principal()};
  const std::string id(target.id);
  if (method.server_streaming) return owners.stream(method, id, request, sink, options);
  if (method.one_way) return owners.deliver(method, id, request, options);
  const std::unique_ptr<google::protobuf::Message> reply(method.new_reply(nullptr));
  auto called = owners.call(method, id, request, *reply, options);
  return called ? sink.reply(*reply) : called;
}

Error object_is_missing(const rpc::Context& context) {
  return {Code::invalid_argument,
          std::string(context.method()) +
              " is a method of objects: name the object, over HTTP in the header Corolane-Object"};
}

}  // namespace corolane::framework::detail
