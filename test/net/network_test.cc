#include "net/network.h"

#include <gtest/gtest.h>

#include <utility>

#include "net/uv_network.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"
#include "test/support/matchers.h"
#include "test/support/real_loop.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;

// The real network with a name service of the test's own.
class NamedNetwork : public UvNetwork {
 public:
  NamedNetwork(EventLoop& loop, std::vector<Endpoint> addresses)
      : UvNetwork(loop), addresses_(std::move(addresses)) {}
  Result<std::vector<Endpoint>> resolve(const HostPort&, Deadline) override { return addresses_; }

 private:
  std::vector<Endpoint> addresses_;
};

TEST(ConnectToTest, ReachesAHostByItsName) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    const std::uint16_t port = (*listener)->local_endpoint().port;
    auto stream = connect_to(real.network, {.host = "localhost", .port = port}, soon());
    ASSERT_TRUE(stream) << stream;
    EXPECT_EQ((*stream)->peer_endpoint(), (*listener)->local_endpoint());
  });
}

TEST(ConnectToTest, TriesTheNextAddressWhenOneRefusesOrIsSilent) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    RawSocket nobody;
    const SilentPeer silent;
    const Endpoint good = (*listener)->local_endpoint();
    NamedNetwork network(real.loop, {nobody.bind(), silent.endpoint, good});
    auto stream = connect_to(network, {.host = "anywhere"}, Deadline::after(300ms));
    ASSERT_TRUE(stream) << stream;
    EXPECT_EQ((*stream)->peer_endpoint(), good);
  });
}

TEST(ConnectToTest, FailsAsTheLastAddressDid) {
  run_on_real_loop([](RealLoop& real) {
    RawSocket nobody;
    const Endpoint endpoint = nobody.bind();
    NamedNetwork network(real.loop, {endpoint, endpoint});
    const auto stream = connect_to(network, {.host = "anywhere"}, soon());
    ASSERT_THAT(stream, fails_with(Code::unavailable));
    EXPECT_EQ(stream.error().message(),
              "connect to " + to_string(endpoint) + ": connection refused");
  });
}

TEST(ConnectToTest, AHostWithoutAddressesIsNotFound) {
  run_on_real_loop([](RealLoop& real) {
    NamedNetwork network(real.loop, {});
    EXPECT_THAT(connect_to(network, {.host = "nowhere"}, soon()), fails_with(Code::not_found));
  });
}

}  // namespace
}  // namespace corolane::net
