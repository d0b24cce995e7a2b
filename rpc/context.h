// What a handler knows of the call that it serves.
#pragma once

#include <string_view>

#include "coroutine/base/deadline.h"

namespace corolane::rpc {

class Context {
 public:
  Context(Deadline deadline, std::string_view method) : deadline_(deadline), method_(method) {}

  // Until when the caller waits: hand it down to every wait and call. When it passes, or when
  // the caller gives up or vanishes, the handler's task is cancelled.
  Deadline deadline() const { return deadline_; }

  // "package.Service/Method".
  std::string_view method() const { return method_; }

 private:
  Deadline deadline_;
  std::string_view method_;
};

}  // namespace corolane::rpc
