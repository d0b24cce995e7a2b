// SPDX-License-Identifier: MIT
// Streams over the simulated network keep the promises of net/stream.h.
#include "net/testing/network.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using net::bytes_of;
using test::fails_with;

class SimulatedStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    auto listener = network_.listen({.address = "server", .port = 1});
    ASSERT_TRUE(listener) << listener;
    auto client = network_.connect((*listener)->local_endpoint(), Deadline::never(),
                                   {.output_bytes_max = 100});
    ASSERT_TRUE(client) << client;
    auto server = (*listener)->accept(Deadline::never());
    ASSERT_TRUE(server) << server;
    client_ = std::move(*client);
    server_ = std::move(*server);
  }

  SimulatedNetwork network_;
  std::unique_ptr<net::Stream> client_;
  std::unique_ptr<net::Stream> server_;
};

TEST_F(SimulatedStreamTest, AWriteAfterTheEndIsRefused) {
  client_->finish_writing();
  EXPECT_THAT(client_->try_write(bytes_of("x")), fails_with(Code::failed_precondition));
  EXPECT_THAT(client_->write_all(bytes_of("x"), Deadline::never()),
              fails_with(Code::failed_precondition));
  EXPECT_FALSE(client_->is_closed());
}

TEST_F(SimulatedStreamTest, ABrokenStreamIsClosed) {
  EXPECT_TRUE(client_->try_write(bytes_of(std::string(200, 'x'))));
  network_.reset_all();
  EXPECT_TRUE(client_->is_closed());
  EXPECT_TRUE(server_->is_closed());
  EXPECT_THAT(client_->try_write(bytes_of("x")), fails_with(Code::unavailable));
  EXPECT_THAT(client_->flush(Deadline::never()), fails_with(Code::unavailable));
}

TEST_F(SimulatedStreamTest, APeerThatClosesReleasesAWriterAboveTheMark) {
  auto writer = coroutine::spawn("writer", [&] {
    return client_->write_all(bytes_of(std::string(200, 'x')), Deadline::after(1h));
  });
  EXPECT_TRUE(coroutine::yield());
  EXPECT_FALSE(writer.is_done());
  const TimePoint start = now();
  server_->close();
  EXPECT_TRUE(writer.join(Deadline::never()));
  EXPECT_EQ(now(), start);
  EXPECT_TRUE(client_->try_write(bytes_of("into the void")));
}

TEST_F(SimulatedStreamTest, APeerThatDoesNotReadBlocksTheWriter) {
  const std::string text(200, 'x');
  EXPECT_THAT(client_->write_all(bytes_of(text), Deadline::after(1min)),
              fails_with(Code::deadline_exceeded));
  EXPECT_THAT(client_->try_write(bytes_of(text)), fails_with(Code::resource_exhausted));
  std::array<std::byte, 150> buffer;
  EXPECT_EQ(server_->read_some(buffer, Deadline::after(1min)), 150u);
  EXPECT_TRUE(client_->write_all(bytes_of("x"), Deadline::after(1min)));
}

TEST_F(SimulatedStreamTest, AResetArrivesAfterTheBytesInFlight) {
  EXPECT_TRUE(client_->try_write(bytes_of("last words")));
  const TimePoint start = now();

  network_.reset(*client_);

  EXPECT_TRUE(client_->is_closed());
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(server_->read_some(buffer, Deadline::never()), 10u);
  EXPECT_THAT(server_->read_some(buffer, Deadline::never()), fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, 1ms);
  EXPECT_TRUE(server_->is_closed());
}

}  // namespace
}  // namespace corolane::sim
