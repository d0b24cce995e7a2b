// SPDX-License-Identifier: MIT
#include "rpc/observe/lock_spans.h"

#include <string>
#include <string_view>

#include "coroutine/base/source_path.h"
#include "rpc/call_scope.h"
#include "rpc/observe/tracing.h"

namespace corolane::rpc {
namespace {

class WaitSpan final : public coroutine::LockObserver::Wait {
 public:
  explicit WaitSpan(Tracer& tracer) : span_(Tracer::wait(&tracer, "wait for lock")) {}

  bool is_recorded() const { return span_.is_recorded(); }
  void describe(const coroutine::LockWait& lock) {
    span_.attribute("corolane.lock.name", std::string_view(lock.name()));
    span_.attribute("code.file.path", source_path(lock.site()));
    span_.attribute("code.line.number", lock.site().line());
    const std::string holder = lock.holder();
    if (!holder.empty()) span_.attribute("corolane.lock.holder", holder);
  }

 private:
  Span span_;
};

}  // namespace

std::unique_ptr<LockSpans::Wait> LockSpans::begin(const coroutine::LockWait& lock) {
  const CallScope* const scope = CallScope::current();
  if (scope == nullptr || !scope->trace.is_sampled) return nullptr;
  auto wait = std::make_unique<WaitSpan>(tracer_);
  if (!wait->is_recorded()) return nullptr;
  wait->describe(lock);
  return wait;
}

}  // namespace corolane::rpc
