// SPDX-License-Identifier: MIT
// Writes the stream of an object on another node on to its reader here.
#pragma once

#include <google/protobuf/message.h>

#include "coroutine/base/result.h"
#include "rpc/call_options.h"
#include "rpc/client/client.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

// Calls a method that replies with a stream, and writes each message to `out`. Suspends until the
// stream has ended. Fails as it does, and as out.write() does; then the stream is abandoned. The
// reply's headers are set before the first message is written, and its trailers at the end.
Result<void> receive_stream(rpc::Client& client, const rpc::Method& method,
                            const google::protobuf::Message& request, rpc::Messages& out,
                            const rpc::CallOptions& options);

}  // namespace corolane::framework::detail
