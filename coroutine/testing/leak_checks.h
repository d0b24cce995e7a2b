// What a test must not leave behind.
//
// A leak that no test notices shows up in production weeks later. So after each test a listener
// fails it when there is more of something than there was before it: tasks, stacks in use, armed
// timers of the tests' scheduler, and whatever a module adds.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>

#include "coroutine/task_info.h"

namespace corolane::test {

// From now on no test may leave more of `what` than there was; `count` is called in a task before
// and after each test, and may suspend. Returns true, to be called before main:
//
//   const bool checked = test::add_leak_check("open handles", [] { return open_handle_count(); });
bool add_leak_check(std::string what, std::function<std::size_t()> count);

// Applies all checks to each test; main adds it to the listeners.
class LeakListener : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestEnd(const testing::TestInfo& test) override;

 private:
  coroutine::TaskId newest_task_ = 0;  // Of those alive before the test.
};

}  // namespace corolane::test
