// SPDX-License-Identifier: MIT
#include "tools/corolane/top/sampler.h"

#include <mutex>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "tools/corolane/on_network.h"

namespace corolane::tools::cli::top {
namespace {

constexpr net::HttpOptions page_limits = {.body_bytes_max = std::size_t{64} * 1024 * 1024};

}  // namespace

// --- Asker

Asker::Asker(net::Network& network, const AdminDoor& door)
    : network_(network), home_(door), door_(door) {
  client_.emplace(network_, door_.peer, page_limits);
}

std::expected<void, Failure> Asker::go_to(const std::string& peer) {
  if (peer == peer_) return {};
  net::HostPort address = home_.peer;
  if (!peer.empty()) {
    auto parsed = net::parse_host_port(peer);
    if (!parsed) return failed("corolane: " + peer + ": " + parsed.error().message());
    address = *std::move(parsed);
  }
  peer_ = peer;
  door_.peer = address;
  client_.emplace(network_, door_.peer, page_limits);
  return {};
}

template <typename T>
std::expected<T, Failure> Asker::page(std::string target, Result<T> (*read)(std::string_view)) {
  const PageRequest request{.method = "GET", .target = std::move(target)};
  const auto response = client_->fetch(to_http(door_, request), Deadline::after(admin_patience));
  if (!response) return std::unexpected(no_connection(response.error(), "node.admin.listen"));
  if (response->status != 200) return std::unexpected(page_failure(door_, request, *response));
  auto value = read(response->body);
  if (!value) return failed("corolane: " + request.target + ": " + value.error().message());
  return *std::move(value);
}

Sample Asker::ask(const Wanted& wanted) {
  if (auto gone = go_to(wanted.peer); !gone) return std::unexpected(gone.error());
  auto stats = page("/stats?format=json&buckets=yes", read_stats);
  if (!stats) return std::unexpected(stats.error());
  auto methods = page("/methods?format=json&buckets=yes", read_methods);
  if (!methods) return std::unexpected(methods.error());
  Snapshot snapshot{.stats = *std::move(stats), .methods = *std::move(methods)};
  if (wanted.cluster) {
    auto cluster = page("/cluster?format=json", read_cluster);
    if (!cluster) return std::unexpected(cluster.error());
    snapshot.cluster = *std::move(cluster);
  }
  if (wanted.tasks) {
    auto tasks = page("/tasks?format=json", read_tasks);
    if (!tasks) return std::unexpected(tasks.error());
    snapshot.tasks = *std::move(tasks);
  }
  if (wanted.stacks) {
    auto stacks = page("/tasks?group=stack&format=json", read_stacks);
    if (!stacks) return std::unexpected(stacks.error());
    snapshot.stacks = *std::move(stacks);
  }
  if (!wanted.task.empty()) {
    // A task that has ended is not a failure of the node.
    auto task = page("/tasks/" + wanted.task + "?format=json", read_task);
    if (task) snapshot.open_task = *std::move(task);
  }
  return snapshot;
}

// --- Sampler

// The state that both threads share.
class Sampler::Shared {
 public:
  Shared(AdminDoor door, Arguments arguments, Duration interval, std::function<void()> wake)
      : door_(std::move(door)),
        arguments_(std::move(arguments)),
        interval_(interval),
        wake_(std::move(wake)) {}

  void run() {
    auto ran = run_on_network(arguments_, [&](net::Network& network) -> Outcome {
      coroutine::Event changed("another wish");
      begin(coroutine::Scheduler::current(), changed);
      Asker asker(network, door_);
      while (const auto wanted = next()) {
        const Deadline deadline = Deadline::after(interval_);
        changed.reset();
        put(asker.ask(*wanted));
        static_cast<void>(changed.wait(deadline));
      }
      end();
      return "";
    });
    // For example, when a certificate cannot be read.
    if (!ran) put(std::unexpected(ran.error()));
  }

  void want(const Wanted& wanted) {
    const std::scoped_lock lock(mutex_);
    if (wanted == wanted_) return;
    wanted_ = wanted;
    prompt();
  }

  void stop() {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    prompt();
  }

  std::optional<Sample> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(sample_, {});
  }

 private:
  void begin(coroutine::Scheduler& scheduler, coroutine::Event& changed) {
    const std::scoped_lock lock(mutex_);
    scheduler_ = &scheduler;
    changed_ = &changed;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    scheduler_ = nullptr;
  }
  std::optional<Wanted> next() {
    const std::scoped_lock lock(mutex_);
    return stops_ ? std::nullopt : std::optional(wanted_);
  }
  void put(Sample sample) {
    {
      const std::scoped_lock lock(mutex_);
      sample_ = std::move(sample);
    }
    wake_();
  }
  // Called with the lock held, which keeps the scheduler alive. The scheduler destroys posted work
  // that it no longer runs.
  void prompt() {
    if (scheduler_ != nullptr) scheduler_->post([changed = changed_] { changed->set(); });
  }

  const AdminDoor door_;
  const Arguments arguments_;
  const Duration interval_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  Wanted wanted_;
  bool stops_ = false;
  std::optional<Sample> sample_;
  coroutine::Scheduler* scheduler_ = nullptr;
  coroutine::Event* changed_ = nullptr;
};

Sampler::Sampler(const AdminDoor& door, const Arguments& arguments, Duration interval,
                 std::function<void()> wake)
    : shared_(std::make_shared<Shared>(door, arguments, interval, std::move(wake))),
      thread_([shared = shared_] { shared->run(); }) {}

Sampler::~Sampler() {
  shared_->stop();
  thread_.join();
}

void Sampler::want(const Wanted& wanted) { shared_->want(wanted); }

std::optional<Sample> Sampler::take() { return shared_->take(); }

}  // namespace corolane::tools::cli::top
