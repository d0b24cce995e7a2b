// SPDX-License-Identifier: MIT
// Unix sockets as the network offers them, and the fate of their files.
#include "net/uv/detail/socket_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_socket.h"
#include "test/net/stepped_loop.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using test::TemporaryFolder;
using testing::HasSubstr;

// Sockets in a temporary folder of the test.
class UnixSocketTest : public testing::Test {
 protected:
  std::string path(std::string_view name = "a.sock") const {
    return (folder_.path() / name).string();
  }
  Endpoint endpoint(std::string_view name = "a.sock") const {
    return {.address = "unix:" + path(name)};
  }
  static bool exists(const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
  }

  // Leaves a file behind as a killed server does.
  void leave_dead_socket() {
    RawSocket dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    dead.bind_to(endpoint());
    dead.listen(1);
  }

  TemporaryFolder folder_;
};

TEST_F(UnixSocketTest, PeersTalkThroughAPath) {
  run_on_real_loop([&](RealLoop& real) {
    auto pair = make_stream_pair_at(endpoint(), real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "question"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "question");
    EXPECT_TRUE(send_text(*pair->server, "answer"));
    EXPECT_EQ(read_text(*pair->client).value_or(""), "answer");
    EXPECT_EQ(pair->client->peer_endpoint(), endpoint());
    EXPECT_EQ(pair->server->local_endpoint(), endpoint());
    EXPECT_TRUE(is_unnamed(pair->server->peer_endpoint()));
    EXPECT_TRUE(is_unnamed(pair->client->local_endpoint()));
  });
}

TEST_F(UnixSocketTest, PeersTalkThroughANameWithoutAFile) {
  run_on_real_loop([&](RealLoop& real) {
    const Endpoint name{.address = "unix:@" + path()};
    auto listener = real.network.listen(name);
    ASSERT_TRUE(listener) << listener;
    EXPECT_EQ((*listener)->local_endpoint(), name);
    EXPECT_FALSE(exists(path()));
    EXPECT_THAT(real.network.listen(name), fails_with(Code::already_exists));
    auto client = connect_to(real.network, {.host = name.address}, soon());
    ASSERT_TRUE(client) << client;
    auto server = (*listener)->accept(soon());
    ASSERT_TRUE(server) << server;
    EXPECT_TRUE(send_text(**client, "hello"));
    EXPECT_EQ(read_text(**server).value_or(""), "hello");
    (*listener)->close();
    EXPECT_TRUE(real.network.listen(name)) << "free again at once";
  });
}

TEST_F(UnixSocketTest, APeerThatFinishedSendingStillReceives) {
  run_on_real_loop([&](RealLoop& real) {
    auto pair = make_stream_pair_at(endpoint(), real.network);
    ASSERT_TRUE(pair) << pair;
    const std::string text = flood();
    auto writer = coroutine::spawn("writer", [&]() -> Result<void> {
      auto written = pair->client->write_all(bytes_of(text), soon());
      pair->client->finish_writing();
      return written;
    });
    EXPECT_TRUE(read_all(*pair->server).value_or("") == text);
    EXPECT_TRUE(writer.join(soon()));
    EXPECT_TRUE(send_text(*pair->server, "answer"));
    pair->server->finish_writing();
    EXPECT_EQ(read_all(*pair->client).value_or(""), "answer");
  });
}

TEST_F(UnixSocketTest, APeerThatReadsNothingIsRefusedAndThenClosed) {
  run_on_real_loop([&](RealLoop& real) {
    auto pair = make_stream_pair_at(endpoint(), real.network, {},
                                    {.output_bytes_max = 1000, .output_stall_max = 5ms});
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(pair->server->try_write(bytes_of(flood())));
    EXPECT_THAT(pair->server->try_write(bytes_of("!")), fails_with(Code::resource_exhausted));
    const auto written = pair->server->write_all(bytes_of("!"), soon());
    ASSERT_THAT(written, fails_with(Code::unavailable));
    EXPECT_EQ(written.error().message(),
              "connection on " + to_string(endpoint()) + ": the peer took no output for too long");
  });
}

TEST_F(UnixSocketTest, ASlowPeerThatReadsSomethingIsNotClosed) {
  run_on_stepped_loop([&](SteppedLoop& time, UvNetwork& network) {
    // The kernel takes more only after three quarters of its buffer have been read: for a peer of
    // this speed that is later than the stall limit of this test.
    auto listener =
        network.listen(endpoint(), {.stream = {.output_bytes_max = 1000, .output_stall_max = 10s}});
    ASSERT_TRUE(listener) << listener;
    RawSocket peer(::socket(AF_UNIX, SOCK_STREAM, 0));
    peer.connect(endpoint());
    auto stream = (*listener)->accept(soon());
    ASSERT_TRUE(stream) << stream;
    EXPECT_TRUE((*stream)->try_write(bytes_of(flood())));
    for (int round = 0; round < 10; ++round) {
      read_bytes(peer, 40'000);
      time.pass(4s);
      ASSERT_FALSE((*stream)->is_closed()) << "in round " << round;
    }
    time.allow(20s);
    EXPECT_THAT((*stream)->flush(Deadline::never()), fails_with(Code::unavailable))
        << "it stopped reading";
  });
}

TEST_F(UnixSocketTest, APathWithoutAServerIsUnavailable) {
  run_on_real_loop([&](RealLoop& real) {
    const auto nothing = real.network.connect(endpoint(), soon());
    ASSERT_THAT(nothing, fails_with(Code::unavailable));
    EXPECT_EQ(nothing.error().message(),
              "connect to " + to_string(endpoint()) + ": no such file or directory");
    leave_dead_socket();
    const auto dead = real.network.connect(endpoint(), soon());
    ASSERT_THAT(dead, fails_with(Code::unavailable));
    EXPECT_THAT(dead.error().message(), HasSubstr("connection refused"));
    EXPECT_EQ(real.loop.open_handle_count(), 0u);
  });
}

TEST_F(UnixSocketTest, ConnectWaitsForAListenerThatIsFull) {
  run_on_real_loop([&](RealLoop& real) {
    auto listener = real.network.listen(endpoint(), {.backlog = 0});
    ASSERT_TRUE(listener) << listener;
    auto first = real.network.connect(endpoint(), soon());
    ASSERT_TRUE(first) << first;
    EXPECT_THAT(real.network.connect(endpoint(), Deadline::passed()),
                fails_with(Code::deadline_exceeded));
    EXPECT_THAT(real.network.connect(endpoint(), Deadline::after(3ms)),
                fails_with(Code::deadline_exceeded));
    auto cancelled =
        coroutine::spawn("cancelled", [&] { return real.network.connect(endpoint(), soon()); });
    auto second =
        coroutine::spawn("second", [&] { return real.network.connect(endpoint(), soon()); });
    EXPECT_TRUE(coroutine::yield());
    cancelled.cancel();
    EXPECT_THAT(cancelled.join(soon()), fails_with(Code::cancelled));
    ASSERT_TRUE((*listener)->accept(soon()));
    EXPECT_TRUE((*listener)->accept(soon()));
    EXPECT_TRUE(second.join(soon()));
  });
}

TEST_F(UnixSocketTest, TheFileIsRemovedWithItsListener) {
  run_on_real_loop([&](RealLoop& real) {
    {
      auto listener = real.network.listen(endpoint());
      ASSERT_TRUE(listener) << listener;
      EXPECT_TRUE(exists(path()));
      (*listener)->close();
      EXPECT_FALSE(exists(path()));
    }
    auto listener = real.network.listen(endpoint());
    ASSERT_TRUE(listener) << listener;
    listener->reset();
    EXPECT_FALSE(exists(path()));
  });
}

TEST_F(UnixSocketTest, TheFileOfADeadServerIsReplaced) {
  run_on_real_loop([&](RealLoop& real) {
    leave_dead_socket();
    ASSERT_TRUE(exists(path()));
    auto pair = make_stream_pair_at(endpoint(), real.network);
    ASSERT_TRUE(pair) << pair;
  });
}

TEST_F(UnixSocketTest, TheFileOfALiveServerStays) {
  run_on_real_loop([&](RealLoop& real) {
    auto first = real.network.listen(endpoint(), {.backlog = 0});
    ASSERT_TRUE(first) << first;
    for (int round = 0; round < 3; ++round) {  // The last rounds find its backlog full.
      const auto second = real.network.listen(endpoint());
      ASSERT_THAT(second, fails_with(Code::already_exists));
      EXPECT_EQ(second.error().message(),
                "listen on " + to_string(endpoint()) + ": another server listens there");
    }
    EXPECT_TRUE(exists(path()));
  });
}

TEST_F(UnixSocketTest, AFileOfAnotherKindStays) {
  run_on_real_loop([&](RealLoop& real) {
    std::ofstream(path()) << "precious";
    EXPECT_THAT(real.network.listen(endpoint()), fails_with(Code::already_exists));
    std::filesystem::create_symlink(path(), path("link.sock"));
    EXPECT_THAT(real.network.listen(endpoint("link.sock")), fails_with(Code::already_exists));
    EXPECT_EQ(std::filesystem::file_size(path()), 8u);
  });
}

TEST_F(UnixSocketTest, AFileThatReplacedItStays) {
  run_on_real_loop([&](RealLoop& real) {
    auto listener = real.network.listen(endpoint());
    ASSERT_TRUE(listener) << listener;
    std::filesystem::remove(path());
    auto successor = real.network.listen(endpoint());
    ASSERT_TRUE(successor) << successor;
    (*listener)->close();
    EXPECT_TRUE(real.network.connect(endpoint(), soon()));
  });
}

TEST_F(UnixSocketTest, AMissingFolderIsNotFound) {
  run_on_real_loop([&](RealLoop& real) {
    EXPECT_THAT(real.network.listen(endpoint("no/a.sock")), fails_with(Code::not_found));
    EXPECT_EQ(real.loop.open_handle_count(), 0u);
  });
}

TEST_F(UnixSocketTest, AFolderThatStaysLockedIsUnavailable) {
  run_on_real_loop([&](RealLoop& real) {
    const RawSocket lock(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(::flock(lock.descriptor(), LOCK_EX), 0);
    EXPECT_THAT(real.network.listen(endpoint()), fails_with(Code::unavailable));
    EXPECT_FALSE(exists(path()));
  });
}

TEST_F(UnixSocketTest, APathThatIsTooLongIsRefused) {
  run_on_real_loop([&](RealLoop& real) {
    const Endpoint too_long = endpoint(std::string(108, 'x'));
    const auto listener = real.network.listen(too_long);
    ASSERT_THAT(listener, fails_with(Code::invalid_argument));
    EXPECT_THAT(listener.error().message(), HasSubstr("at most 107"));
    EXPECT_THAT(real.network.connect(too_long, soon()), fails_with(Code::invalid_argument));
    EXPECT_THAT(connect_to(real.network, {.host = "unix:"}, soon()),
                fails_with(Code::invalid_argument));
  });
}

}  // namespace
}  // namespace corolane::net
