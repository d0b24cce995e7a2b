// SPDX-License-Identifier: MIT
// Passes the call of a client on to an object that lives elsewhere.
#pragma once

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/context.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class Owners;

// The object, the request id, the headers and the principal are those of `context`, which names an
// object. Suspends. Fails as Owners::call().
Result<void> pass_on(Owners& owners, const rpc::Method& method,
                     const google::protobuf::Message& request, rpc::Context& context,
                     rpc::Messages& sink);

// The error of a call that names none.
Error object_is_missing(const rpc::Context& context);

}  // namespace corolane::framework::detail
