#include "net/signals.h"

#include <uv.h>

#include <algorithm>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/wait_queue.h"
#include "net/detail/call_count.h"
#include "net/detail/event_loop_impl.h"

namespace corolane::net {

struct SignalWatcher::Impl {
  // The part that libuv holds on to.
  struct Handle {
    uv_signal_t uv;
    Impl* owner;
  };

  void open(EventLoop::Impl& loop, int number);
  void on_signal(int number);

  std::vector<Handle*> handles;
  std::vector<int> arrived;  // Each number once, like the kernel's own pending signals.
  coroutine::WaitQueue waiters{"signal"};
  detail::CallCount calls;
};

void SignalWatcher::Impl::open(EventLoop::Impl& loop, int number) {
  auto* const handle = new Handle{.uv = {}, .owner = this};
  uv_signal_init(&loop.uv, &handle->uv);
  handle->uv.data = handle;
  const auto on_arrival = [](uv_signal_t* uv, int arrived_number) {
    auto* const owner = static_cast<Handle*>(uv->data)->owner;
    if (owner != nullptr) owner->on_signal(arrived_number);
  };
  check(uv_signal_start(&handle->uv, on_arrival, number) == 0, "a signal that can be caught");
  handles.push_back(handle);
  ++loop.open_count;
}

void SignalWatcher::Impl::on_signal(int number) {
  if (std::find(arrived.begin(), arrived.end(), number) == arrived.end()) arrived.push_back(number);
  waiters.notify_one();
}

SignalWatcher::SignalWatcher(EventLoop& loop, std::initializer_list<int> signals)
    : loop_(loop), impl_(std::make_unique<Impl>()) {
  for (const int number : signals) impl_->open(loop.impl(), number);
}

SignalWatcher::~SignalWatcher() {
  for (Impl::Handle* handle : impl_->handles) {
    handle->owner = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&handle->uv),
             [](uv_handle_t* closed) { delete static_cast<Impl::Handle*>(closed->data); });
    --loop_.impl().open_count;
  }
}

Result<int> SignalWatcher::wait(Deadline deadline) {
  const detail::CallCount::Inside inside(impl_->calls);
  while (impl_->arrived.empty()) {
    const coroutine::Wake wake = impl_->waiters.wait(deadline);
    if (wake != coroutine::Wake::notified) return wake_error(wake, "signal");
  }
  const int number = impl_->arrived.front();
  impl_->arrived.erase(impl_->arrived.begin());
  return number;
}

}  // namespace corolane::net
