// Tells the service manager that has started this process how its node is, by the protocol of
// systemd (sd_notify(3)): that it serves, what it does, that it stops and how long that may take.
//
// And, as often as it asks for that, that the node is alive: said by the node itself, after each of
// its loops has turned. One that hangs is not heard any more, and the manager ends the process.
#pragma once

#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"

namespace corolane::framework::detail {

// What it wants to know.
struct ServiceWishes {
  bool is_there = false;  // Otherwise nobody is told anything.
  // Between two signs of life; zero: there are none.
  Duration interval = Duration::zero();

  // As NOTIFY_SOCKET and WATCHDOG_USEC of the environment have it.
  static ServiceWishes of_process();
};

class ServiceManager {
 public:
  // The node outlives it. Lives in a task of its first shard.
  ServiceManager(Node& node, ServiceWishes wishes);
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // The node has started: from now on there are signs of life.
  void tell_ready();
  // It will not start.
  void tell_failed(const Error& error);
  // It begins to stop, and the process ends within `time_max`, whatever the manager would grant.
  void tell_stopping(Duration time_max);

 private:
  void give_signs();
  std::string status() const;
  void tell(const std::string& state);

  Node& node_;
  const ServiceWishes wishes_;
  bool hears_ = true;  // As far as we know.
  coroutine::TaskGroup signs_;
};

}  // namespace corolane::framework::detail
