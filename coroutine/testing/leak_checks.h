// SPDX-License-Identifier: MIT
// Fails a test that leaves something behind.
//
//   const bool checked = test::add_leak_check("open handles", [] { return open_handle_count(); });
//
// A leak that no test notices shows up in production weeks later. After each test a listener
// therefore fails it when there is more of something than before: tasks, stacks in use, armed
// timers of the tests' scheduler, and the resources that modules add.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>

#include "coroutine/task_info.h"

namespace corolane::test {

// From now on no test may leave more of `what` than there was before. `count` is called in a task
// before and after each test, and may suspend. Returns true, so that it can be called before main:
//
//   const bool checked = test::add_leak_check("open handles", [] { return open_handle_count(); });
bool add_leak_check(std::string what, std::function<std::size_t()> count);

// Applies all checks to each test; main adds the listener.
class LeakListener : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestEnd(const testing::TestInfo& test) override;

 private:
  coroutine::TaskId newest_task_ = 0;  // The newest task before the test.
};

}  // namespace corolane::test
