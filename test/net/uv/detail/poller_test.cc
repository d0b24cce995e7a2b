// SPDX-License-Identifier: MIT
#include "net/uv/detail/poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <set>

namespace corolane::net::detail {
namespace {

// A descriptor that a test makes readable.
class Watched {
 public:
  Watched() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Watched() { ::close(descriptor_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  int descriptor() const { return descriptor_; }
  void fill() { ::eventfd_write(descriptor_, 1); }
  void drain() {
    eventfd_t count = 0;
    ::eventfd_read(descriptor_, &count);
  }

 private:
  const int descriptor_;
};

class PollerTest : public testing::Test {
 protected:
  Watched& add() {
    Watched& watched = watched_.emplace_back();
    poller_.add(watched.descriptor(), &watched);
    return watched;
  }
  // What wait() reports now.
  std::set<Watched*> readable() {
    std::set<Watched*> found;
    for (const epoll_event& event : poller_.wait(0)) {
      found.insert(static_cast<Watched*>(event.data.ptr));
    }
    return found;
  }

  Poller poller_;
  std::deque<Watched> watched_;
};

TEST_F(PollerTest, ADescriptorIsReportedAsLongAsItIsReadable) {
  Watched& watched = add();
  add();
  EXPECT_TRUE(readable().empty());
  watched.fill();
  EXPECT_THAT(readable(), testing::ElementsAre(&watched));
  EXPECT_THAT(readable(), testing::ElementsAre(&watched));
  watched.drain();
  EXPECT_TRUE(readable().empty());
}

TEST_F(PollerTest, ADescriptorThatWasRemovedIsNotReported) {
  Watched& watched = add();
  watched.fill();
  poller_.remove(watched.descriptor());
  EXPECT_TRUE(readable().empty());
  poller_.add(watched.descriptor(), &watched);
  EXPECT_THAT(readable(), testing::ElementsAre(&watched));
}

TEST_F(PollerTest, MoreThanOneCallReportsAreReportedInTurns) {
  constexpr std::size_t count = Poller::event_count_max + Poller::event_count_max / 2;
  for (std::size_t index = 0; index < count; ++index) add().fill();
  std::set<Watched*> first = readable();
  EXPECT_EQ(first.size(), Poller::event_count_max);
  first.merge(readable());
  EXPECT_EQ(first.size(), count);
}

TEST_F(PollerTest, AWaitEndsByAnEvent) {
  add().fill();
  EXPECT_EQ(poller_.wait(/*milliseconds=*/-1).size(), 1U);
}

}  // namespace
}  // namespace corolane::net::detail
