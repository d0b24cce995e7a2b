// SPDX-License-Identifier: MIT
// A ReadSink that records its calls.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/sync/event.h"
#include "net/stream.h"
#include "test/fixtures/real_loop.h"

namespace corolane::net {

// Records its input, and runs the test's function on each call.
class TestSink final : public ReadSink {
 public:
  void on_bytes(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    heard.pulse();
    if (when_bytes) when_bytes(bytes);
  }
  void on_end(const Error& reason) override {
    ends.push_back(reason.to_string());
    heard.pulse();
    if (when_end) when_end();
  }

  // Suspends until it has received as many bytes.
  void wait_for_text(std::string_view expected) {
    while (text.size() < expected.size()) ASSERT_TRUE(heard.wait(test::soon()));
    EXPECT_EQ(text, expected);
  }
  void wait_for_end() {
    while (ends.empty()) ASSERT_TRUE(heard.wait(test::soon()));
  }

  std::function<void(std::span<const std::byte>)> when_bytes;
  std::function<void()> when_end;
  std::string text;
  std::vector<std::string> ends;
  coroutine::Event heard{"a sink"};
};

}  // namespace corolane::net
