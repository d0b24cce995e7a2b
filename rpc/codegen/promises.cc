// SPDX-License-Identifier: MIT
#include "rpc/codegen/promises.h"

#include <string>
#include <string_view>
#include <utility>

#include "config/units.h"
#include "coroutine/stack/stack_pool.h"
#include "rpc/codegen/method_options.h"

namespace corolane::rpc::codegen {
namespace {

class Promises {
 public:
  void add(bool holds, std::string_view sentence) {
    if (holds) sentences_.emplace_back(sentence);
  }
  Sentences sentences() && { return std::move(sentences_); }

 private:
  Sentences sentences_;
};

// For both sides.
void add_standing(Promises& promises, const MethodModel& method) {
  promises.add(method.priority == "control", "Control: a loaded server refuses it last.");
  promises.add(method.priority == "login",
               "Login: a loaded server refuses it before calls in a session.");
  promises.add(method.priority == "background", "Background: a loaded server refuses it first.");
  promises.add(method.is_deprecated, "Deprecated.");
}

}  // namespace

Sentences promises_to_callers(const MethodModel& method) {
  const std::string timeout = config::format_duration(method.timeout);
  const bool has_own_timeout = method.timeout != Duration(timeout_default);
  Promises promises;
  promises.add(method.is_watched(),
               "Streams: read() one message after the other; then finish() says how it ended.");
  promises.add(method.is_upload(),
               "Streams: write() one message after the other; then finish() returns the reply.");
  promises.add(method.is_duplex(),
               "Streams: write() and read() messages; then finish() says how it ended.");
  promises.add(method.is_streaming || method.is_called_with_stream,
               "Lasts " + timeout + " at most unless the options have a deadline.");
  promises.add(method.is_one_way,
               "One-way: returns when the request is on its way; its outcome is not reported.");
  promises.add(method.is_one_way && has_own_timeout,
               "Given up after " + timeout + " unless the options have a deadline.");
  promises.add(method.is_unary() && has_own_timeout,
               "Waits " + timeout + " at most unless the options have a deadline.");
  promises.add(method.is_durable, "Durable: no crash undoes a call that was answered.");
  promises.add(method.is_idempotent,
               "Idempotent: may be retried even though it may have taken effect.");
  add_standing(promises, method);
  return std::move(promises).sentences();
}

Sentences promises_to_handlers(const MethodModel& method) {
  const std::string timeout = config::format_duration(method.timeout);
  const bool has_own_timeout = method.timeout != Duration(timeout_default);
  Promises promises;
  promises.add(method.is_called_with_stream,
               "Streams: read() the messages of `in`, and return the error of its finish().");
  promises.add(method.is_streaming,
               "Streams: write() the messages to `out`; the returned result ends the stream.");
  promises.add(method.is_streaming || method.is_called_with_stream,
               "Lasts " + timeout + " at most unless the caller has another deadline.");
  promises.add(method.is_one_way, "One-way: no caller sees the returned result.");
  promises.add(method.is_one_way && has_own_timeout,
               "Cancelled after " + timeout + " unless the caller has another deadline.");
  promises.add(method.is_unary() && has_own_timeout,
               "Callers wait " + timeout + " at most unless they have another deadline.");
  promises.add(
      method.stack_size_bytes != coroutine::StackPool::stack_size_bytes_default,
      "Runs on a stack of " + config::format_bytes({.count = method.stack_size_bytes}) + ".");
  promises.add(method.is_idempotent,
               "Idempotent: may be run again for a call that has taken effect.");
  promises.add(method.is_durable, "Durable: its reply waits until the state is stored.");
  promises.add(method.is_read_only, "Read-only: runs at the same time as other read-only calls.");
  promises.add(method.is_public, "Public: clients may call it, with any request.");
  promises.add(method.timeout_max > Duration::zero(),
               "A client gets " + config::format_duration(method.timeout_max) + " at most.");
  add_standing(promises, method);
  return std::move(promises).sentences();
}

}  // namespace corolane::rpc::codegen
