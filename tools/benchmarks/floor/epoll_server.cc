// SPDX-License-Identifier: MIT
// One loop accepts and answers connections as epoll reports them.
#include "tools/benchmarks/floor/epoll_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include "tools/benchmarks/network/flow.h"

namespace corolane::bench {
namespace {

class EpollServer {
 public:
  EpollServer(Epoll epoll, ListeningSocket listening, Answerer& answerer)
      : epoll_(std::move(epoll)), listening_(std::move(listening)), answerer_(answerer) {}

  Error serve() {
    const auto token = reinterpret_cast<std::uint64_t>(this);
    if (auto added = epoll_.add(listening_.socket.number(), EPOLLIN, token); !added) {
      return added.error();
    }
    Seat::announce(listening_.port);
    for (;;) {
      for (const epoll_event& event : epoll_.wait()) {
        if (event.data.u64 == token) {
          accept_all();
        } else {
          handle(*reinterpret_cast<Flow*>(event.data.u64), event.events);
        }
      }
    }
  }

 private:
  void accept_all() {
    for (;;) {
      Descriptor socket(
          accept4(listening_.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.number() < 0) return;
      const int on = 1;
      setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      admit(std::move(socket));
    }
  }

  void admit(Descriptor socket) {
    auto flow = std::make_unique<Flow>(std::move(socket), epoll_);
    if (!flow->start(reinterpret_cast<std::uint64_t>(flow.get()))) return;
    const auto greeting = answerer_.greeting();
    if (!greeting.empty() && !flow->write(greeting)) return;
    flows_.emplace(flow.get(), std::move(flow));
  }

  void handle(Flow& flow, std::uint32_t events) {
    const bool is_open = ((events & EPOLLOUT) == 0 || flow.write_unsent()) &&
                         ((events & ~EPOLLOUT) == 0 || answer(flow));
    if (!is_open) flows_.erase(&flow);
  }

  Result<void> answer(Flow& flow) {
    const auto input = flow.read();
    if (!input) return input.error();
    const auto [taken_count, output, is_for_all] = answerer_.answer(*input);
    flow.keep(input->subspan(taken_count));
    if (output.empty()) return {};
    if (!is_for_all) return flow.write(output);
    // Those that have gone are noticed when they are read.
    for (const auto& [each, owner] : flows_) static_cast<void>(each->write(output));
    return {};
  }

  Epoll epoll_;
  ListeningSocket listening_;
  Answerer& answerer_;
  std::unordered_map<Flow*, std::unique_ptr<Flow>> flows_;
};

}  // namespace

Error serve_by_epoll(Answerer& answerer) {
  auto epoll = Epoll::make();
  if (!epoll) return epoll.error();
  auto listening = listen_on_loopback();
  if (!listening) return listening.error();
  return EpollServer(std::move(*epoll), std::move(*listening), answerer).serve();
}

}  // namespace corolane::bench
