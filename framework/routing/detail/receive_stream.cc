// SPDX-License-Identifier: MIT
#include "framework/routing/detail/receive_stream.h"

#include <memory>

#include "rpc/stream.h"

namespace corolane::framework::detail {

Result<void> receive_stream(rpc::Client& client, const rpc::Method& method,
                            const google::protobuf::Message& request, rpc::Messages& out,
                            const rpc::CallOptions& options) {
  rpc::StreamCall call(client, method, request, options);
  const std::unique_ptr<google::protobuf::Message> message(method.new_reply(nullptr));
  const auto pass_headers_on = [&] {
    if (options.reply_headers != nullptr) *options.reply_headers = call.reply_headers();
  };
  for (bool is_first = true; call.read(*message); is_first = false) {
    if (is_first) pass_headers_on();
    if (auto written = out.write(*message); !written) return written;
  }
  pass_headers_on();
  return call.finish();
}

}  // namespace corolane::framework::detail
