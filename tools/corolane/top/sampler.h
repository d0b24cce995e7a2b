// Asks a node again and again, on a thread of its own, so that keys are heard while it does not
// answer.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "coroutine/base/clock.h"
#include "net/http/http_client.h"
#include "tools/corolane/admin_door.h"
#include "tools/corolane/top/frame.h"

namespace corolane::tools::cli::top {

// What is asked for besides /stats.
struct Wanted {
  bool tasks = false;
  bool stacks = false;
  std::string task = {};  // The id of one; empty: none.

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

using Sample = std::expected<Snapshot, Failure>;

// Suspends. Within a network that has TLS where it is wanted.
class Asker {
 public:
  // `network` outlives it.
  Asker(net::Network& network, const AdminDoor& door);

  Sample ask(const Wanted& wanted);

 private:
  template <typename T>
  std::expected<T, Failure> page(std::string target, Result<T> (*read)(std::string_view));

  const AdminDoor& door_;
  net::HttpClient client_;
};

class Sampler {
 public:
  // Calls `wake` on its thread whenever there is a new sample.
  Sampler(const AdminDoor& door, const Arguments& arguments, Duration interval,
          std::function<void()> wake);
  // Waits for what is being asked, a few seconds at most.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // From now on; when that is something else, it is asked for at once.
  void want(const Wanted& wanted);
  // The last one, once.
  std::optional<Sample> take();

 private:
  class Shared;

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace corolane::tools::cli::top
