// SPDX-License-Identifier: MIT
// Samples a node periodically on a thread of its own, so that keys are handled while the node does
// not answer.
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

// The pages to request besides /stats and /methods.
struct Wanted {
  bool cluster = false;
  bool tasks = false;
  bool stacks = false;
  std::string task = {};  // The id of a task; empty: none.
  std::string peer = {};  // The admin address of another node to ask; empty: that of the door.

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

using Sample = std::expected<Snapshot, Failure>;

// Requests samples. Suspends. The network must add TLS where it is wanted.
class Asker {
 public:
  // `network` outlives it. Other nodes get the same token.
  Asker(net::Network& network, const AdminDoor& door);

  Sample ask(const Wanted& wanted);

 private:
  template <typename T>
  std::expected<T, Failure> page(std::string target, Result<T> (*read)(std::string_view));
  std::expected<void, Failure> go_to(const std::string& peer);

  net::Network& network_;
  const AdminDoor home_;
  std::string peer_;  // As in Wanted.
  AdminDoor door_;
  std::optional<net::HttpClient> client_;  // Of that door.
};

class Sampler {
 public:
  // Calls `wake` on its thread whenever there is a new sample.
  Sampler(const AdminDoor& door, const Arguments& arguments, Duration interval,
          std::function<void()> wake);
  // Waits for the current request, a few seconds at most.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Sets the pages to request from now on. A change causes a request at once.
  void want(const Wanted& wanted);
  // Returns the last sample, and only once.
  std::optional<Sample> take();

 private:
  class Shared;

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace corolane::tools::cli::top
