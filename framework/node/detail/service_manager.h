// SPDX-License-Identifier: MIT
// Reports the state of the node to the service manager that has started this process, by the
// protocol of systemd (sd_notify(3)): readiness, status, and shutdown with its time limit.
//
// It also sends signs of life at the requested interval, from the node itself, each after all its
// loops have turned. When a loop hangs the signs stop, and the manager ends the process.
#pragma once

#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"

namespace corolane::framework::detail {

// The requests of the service manager.
struct ServiceWishes {
  bool is_there = false;  // False: nothing is reported.
  // Between two signs of life; zero: no signs.
  Duration interval = Duration::zero();

  // From NOTIFY_SOCKET and WATCHDOG_USEC in the environment.
  static ServiceWishes of_process();
};

class ServiceManager {
 public:
  // The node outlives it. Lives in a task of its thread.
  ServiceManager(Node& node, ServiceWishes wishes);
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // The node has started: reports that and begins the signs of life.
  void tell_ready();
  // The node failed to start.
  void tell_failed(const Error& error);
  // The node begins to stop, and the process ends within `time_max`; this extends the manager's own
  // limit.
  void tell_stopping(Duration time_max);

 private:
  void give_signs();
  std::string status() const;
  void tell(const std::string& state);

  Node& node_;
  const ServiceWishes wishes_;
  bool hears_ = true;  // False after a failed notification.
  coroutine::TaskGroup signs_;
};

}  // namespace corolane::framework::detail
