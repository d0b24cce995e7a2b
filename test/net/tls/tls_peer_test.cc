// SPDX-License-Identifier: MIT
// TLS with a foreign peer: the openssl command, on either side, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "net/tls/tls.h"
#include "net/uv/uv_worker_pool.h"
#include "test/net/tls/tls_world.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

// A command whose output is read on another thread.
class Command {
 public:
  Command(RealLoop& real, const std::string& command)
      : pool_(real.loop), pipe_(::popen((command + " 2>&1").c_str(), "r"), &::pclose) {}

  // Reads up to the line that contains `text`, or everything if no line does. Suspends.
  std::string read_until(const std::string& text) {
    auto read = run_blocking(
        pool_,
        [pipe = pipe_, text] {
          std::string all;
          std::array<char, 4096> line;
          while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
            all += line.data();
            if (all.find(text) != std::string::npos) break;
          }
          return all;
        },
        soon());
    return read.value_or("no answer in time");
  }
  std::string read_all() { return read_until("\x01"); }

 private:
  UvWorkerPool pool_;
  std::shared_ptr<std::FILE> pipe_;
};

// The port in "ACCEPT 127.0.0.1:40000".
std::uint16_t port_in(const std::string& line) {
  return static_cast<std::uint16_t>(std::atoi(line.substr(line.rfind(':') + 1).c_str()));
}

// Answers one line and closes.
void answer_one(Listener& listener) {
  auto stream = listener.accept(soon());
  ASSERT_TRUE(stream) << stream;
  const auto line = read_text(**stream);
  ASSERT_TRUE(line) << line;
  EXPECT_TRUE((*stream)->write_all(bytes_of("you said " + *line), soon()));
  (*stream)->finish_writing();
  EXPECT_TRUE((*stream)->flush(soon()));
  EXPECT_TRUE(read_all(**stream));
}

TEST(TlsPeerTest, OpensslConnectsAsAClientWithBothVersions) {
  COROLANE_NEEDS(test::missing_program("openssl"));
  run_on_real_loop([](RealLoop& real) {
    TlsOptions options = server_tls();
    options.needs_peer_certificate = true;
    auto context = load_tls(options);
    TlsNetwork network(real.network, *context);
    auto listener = network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    const std::string connect =
        "echo hello | timeout 20 openssl s_client -connect " +
        to_string((*listener)->local_endpoint()) + " -CAfile " + cluster_authority().file() +
        " -ign_eof -verify_return_error -verify_hostname server -cert " +
        named_client_tls().certificate_file + " -key " + named_client_tls().key_file;
    for (const auto& [flag, version] :
         {std::pair(" -tls1_3", "TLSv1.3"), std::pair(" -tls1_2", "TLSv1.2")}) {
      Command client(real, connect + flag);
      answer_one(**listener);
      const std::string output = client.read_all();
      EXPECT_THAT(output, HasSubstr("you said hello"));
      EXPECT_THAT(output, HasSubstr(std::string("New, ") + version));
      EXPECT_THAT(output, HasSubstr("Verify return code: 0 (ok)"));
    }
  });
}

TEST(TlsPeerTest, VersionsBeforeOnePointTwoAreNotSpoken) {
  COROLANE_NEEDS(test::missing_program("openssl"));
  run_on_real_loop([](RealLoop& real) {
    auto context = load_tls(server_tls());
    TlsNetwork network(real.network, *context);
    auto listener = network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    Command client(real, "timeout 20 openssl s_client -tls1_1 -cipher ALL:@SECLEVEL=0 -connect " +
                             to_string((*listener)->local_endpoint()) + " < /dev/null");
    EXPECT_THAT(client.read_all(), HasSubstr("alert protocol version"));
    EXPECT_EQ(network.statistics().failed_count, 1u);
  });
}

TEST(TlsPeerTest, OpensslServesAsAServer) {
  COROLANE_NEEDS(test::missing_program("openssl"));
  run_on_real_loop([](RealLoop& real) {
    const TlsOptions options = server_tls();
    // Answers each line reversed.
    Command server(real, "timeout 20 openssl s_server -accept 127.0.0.1:0 -naccept 1 -rev -cert " +
                             options.certificate_file + " -key " + options.key_file + " -CAfile " +
                             options.ca_file + " -Verify 1");
    const std::uint16_t port = port_in(server.read_until("ACCEPT"));
    auto context = load_tls(named_client_tls());
    TlsNetwork network(real.network, *context);
    auto stream = network.connect({.address = "127.0.0.1", .port = port}, soon());
    ASSERT_TRUE(stream) << stream;
    EXPECT_EQ((*stream)->peer_identity(), "server");
    EXPECT_TRUE(send_text(**stream, "stressed\n"));
    EXPECT_EQ(read_exactly(**stream, 9).value_or(""), "desserts\n");
    (*stream)->finish_writing();
    EXPECT_TRUE((*stream)->flush(soon()));
    EXPECT_THAT(server.read_all(), HasSubstr("CN"));
  });
}

TEST(TlsPeerTest, AServerWhoseCertificateHasExpiredIsRefused) {
  COROLANE_NEEDS(test::missing_program("openssl"));
  run_on_real_loop([](RealLoop& real) {
    // Our own server would not even start with it.
    const auto files = cluster_authority().issue(
        {.common_name = "old", .addresses = {"127.0.0.1"}, .valid_until = -1h});
    Command server(real, "timeout 20 openssl s_server -accept 127.0.0.1:0 -naccept 1 -rev -cert " +
                             files.certificate_file + " -key " + files.key_file);
    const std::uint16_t port = port_in(server.read_until("ACCEPT"));
    auto context = load_tls(client_tls());
    TlsNetwork network(real.network, *context);
    const auto stream = network.connect({.address = "127.0.0.1", .port = port}, soon());
    ASSERT_THAT(stream, fails_with(Code::unauthenticated));
    EXPECT_THAT(stream.error().message(), HasSubstr("certificate has expired; it is for \"old\""));
    EXPECT_THAT(server.read_all(), HasSubstr("alert certificate expired"));
  });
}

}  // namespace
}  // namespace corolane::net
