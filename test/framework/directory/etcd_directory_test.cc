// SPDX-License-Identifier: MIT
// The behaviour of a real etcd: its members, users, certificates, and outages.
#include "framework/directory/etcd_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/encoding.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "coroutine/testing/sanitizers.h"
#include "net/crypto.h"
#include "net/http/http.h"
#include "net/testing/certificates.h"
#include "net/tls/tls.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/directory/directory_world.h"
#include "test/framework/directory/watcher.h"
#include "tools/processes/etcd_server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::EtcdServer;
using test::fails_with;
using test::put;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using test::Watcher;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Options = EtcdDirectory::Options;

// No server listens there.
const net::HostPort nobody{.host = "127.0.0.1", .port = 1};

class EtcdDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    COROLANE_NEEDS(EtcdServer::obstacle());
    static int count = 0;
    key_prefix_ = "/etcd " + std::to_string(++count) + "/";
  }

  // With a directory in `etcd`, under a prefix of the test's own.
  void run(const EtcdServer& etcd, const std::function<void(Directory&)>& body) {
    run(etcd, {}, body);
  }
  void run(const EtcdServer& etcd, Options options, const std::function<void(Directory&)>& body) {
    run_on_real_loop([&](RealLoop& real) {
      options.endpoints = {etcd.host()};
      options.key_prefix = key_prefix_;
      EtcdDirectory directory(real.network, options);
      body(directory);
    });
  }

  std::string key_prefix_;
};

std::vector<std::string> keys(Directory& directory, std::string_view prefix = "") {
  std::vector<std::string> all;
  const auto snapshot = directory.list(prefix, soon());
  EXPECT_TRUE(snapshot) << snapshot;
  if (!snapshot) return all;
  for (const auto& entry : snapshot->entries) all.push_back(entry.key);
  return all;
}

// Sends a request of an operator.
void administer(net::Network& network, const EtcdServer& etcd, std::string path, std::string body) {
  const auto response = net::fetch_http(
      network, etcd.host(), {.method = "POST", .target = std::move(path), .body = std::move(body)},
      soon());
  ASSERT_TRUE(response) << response;
  ASSERT_EQ(response->status, 200u) << response->body;
}

TEST_F(EtcdDirectoryTest, IsSharedAndNamedAfterItsMembers) {
  run_on_real_loop([](RealLoop& real) {
    const EtcdDirectory directory(real.network, {.endpoints = {{.host = "10.0.0.5", .port = 2379},
                                                               {.host = "::1", .port = 1}}});
    EXPECT_TRUE(directory.is_shared());
    EXPECT_EQ(directory.name(), "etcd 10.0.0.5:2379, [::1]:1");
  });
}

TEST_F(EtcdDirectoryTest, ClustersWithDifferentPrefixesAreSeparate) {
  run_on_real_loop([](RealLoop& real) {
    const EtcdServer& etcd = test::shared_etcd();
    EtcdDirectory ours(real.network, {.endpoints = {etcd.host()}, .key_prefix = "/ours/"});
    EtcdDirectory theirs(real.network, {.endpoints = {etcd.host()}, .key_prefix = "/theirs/"});
    const auto revision = put(theirs, "node", "theirs");
    Watcher watcher(ours, "", revision);
    put(ours, "node", "ours");
    ASSERT_THAT(watcher.wait_for(1), SizeIs(1));
    EXPECT_EQ(watcher.changes[0].entry.value, "ours");
    EXPECT_THAT(keys(ours), ElementsAre("node"));
    EXPECT_TRUE(ours.commit({.removals = {"node"}}, soon()));
    EXPECT_THAT(keys(theirs), ElementsAre("node"));
  });
}

// Above four megabytes, the default limit of gRPC.
TEST_F(EtcdDirectoryTest, ALargeTableIsListedAsAWhole) {
  run(test::shared_etcd(), [](Directory& directory) {
    constexpr int transaction_count = test::under_sanitizer ? 2 : 6;
    for (int number = 0; number < transaction_count; ++number) {
      Directory::Transaction transaction;
      for (std::size_t i = 0; i < Directory::transaction_size_max; ++i) {
        transaction.puts.push_back({.key = std::to_string(number) + "/" + std::to_string(1000 + i),
                                    .value = std::string(8'000, 'v')});
      }
      const auto outcome = directory.commit(transaction, soon());
      ASSERT_TRUE(outcome) << outcome;
    }
    EXPECT_THAT(keys(directory), SizeIs(transaction_count * Directory::transaction_size_max));
  });
}

TEST_F(EtcdDirectoryTest, ALargeTransactionIsSeenAsAWhole) {
  run(test::shared_etcd(), [](Directory& directory) {
    Directory::Transaction transaction;
    for (std::size_t i = 0; i < Directory::transaction_size_max; ++i) {
      transaction.puts.push_back(
          {.key = std::to_string(1000 + i), .value = std::string(8'000, 'v')});
    }
    const auto outcome = directory.commit(transaction, soon());
    ASSERT_TRUE(outcome) << outcome;
    Watcher watcher(directory, "", outcome->revision);
    watcher.wait_for(Directory::transaction_size_max);
    ASSERT_THAT(watcher.changes, SizeIs(Directory::transaction_size_max));
    EXPECT_EQ(watcher.changes.back().entry.key, "1127");
  });
}

TEST_F(EtcdDirectoryTest, ATransactionTooLargeForEtcdIsRefused) {
  run(test::shared_etcd(), [](Directory& directory) {
    const auto outcome =
        directory.commit({.puts = {{.key = "a", .value = std::string(2'000'000, 'x')}}}, soon());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), Code::invalid_argument);
    EXPECT_FALSE(outcome.error().maybe_executed());
    EXPECT_THAT(keys(directory), IsEmpty());
  });
}

TEST_F(EtcdDirectoryTest, ACompactedRevisionIsOutOfRange) {
  run_on_real_loop([&](RealLoop& real) {
    const EtcdServer& etcd = test::shared_etcd();
    EtcdDirectory directory(real.network, {.endpoints = {etcd.host()}, .key_prefix = key_prefix_});
    const auto first = put(directory, "a", "1");
    const auto second = put(directory, "a", "2");
    administer(real.network, etcd, "/v3/kv/compaction",
               R"({"revision":")" + std::to_string(second) + R"("})");
    EXPECT_THAT(directory.watch("", first, [](const auto&) {}), fails_with(Code::out_of_range));
    Watcher watcher(directory, "", second);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
  });
}

TEST_F(EtcdDirectoryTest, AMissingMemberIsSkippedForTheNext) {
  run_on_real_loop([&](RealLoop& real) {
    EtcdDirectory directory(real.network, {.endpoints = {nobody, test::shared_etcd().host()},
                                           .key_prefix = key_prefix_});
    const auto revision = put(directory, "a");
    const auto lease = directory.grant(60s, soon());
    ASSERT_TRUE(lease) << lease;
    EXPECT_TRUE(directory.keep_alive(*lease, soon()));
    EXPECT_TRUE(directory.revoke(*lease, soon()));
    Watcher watcher(directory, "", revision);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
  });
}

TEST_F(EtcdDirectoryTest, WithoutAnyMemberItIsUnavailable) {
  run_on_real_loop([&](RealLoop& real) {
    EtcdDirectory directory(real.network, {.endpoints = {nobody}});
    EXPECT_THAT(directory.grant(6s, soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.keep_alive(1, soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.revoke(1, soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.list("", soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.watch("", 1, [](const auto&) {}), fails_with(Code::unavailable));
    const auto outcome = directory.commit({}, soon());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), Code::unavailable);
    EXPECT_FALSE(outcome.error().maybe_executed());
  });
}

TEST_F(EtcdDirectoryTest, ResumesWhenItsEtcdIsBack) {
  EtcdServer etcd;
  etcd.start();
  run(etcd, [&](Directory& directory) {
    const auto lease = directory.grant(60s, soon());
    ASSERT_TRUE(lease) << lease;
    const auto revision = put(directory, "a", "1", *lease);
    Watcher watcher(directory, "", revision);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
    etcd.kill();
    EXPECT_THAT(watcher.join(), fails_with(Code::unavailable));
    EXPECT_THAT(directory.list("", soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.keep_alive(*lease, soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.commit({.removals = {"a"}}, soon()), fails_with(Code::unavailable));

    etcd.start();
    EXPECT_THAT(keys(directory), ElementsAre("a"));
    EXPECT_TRUE(directory.keep_alive(*lease, soon()));
    Watcher again(directory, "", revision + 1);
    EXPECT_TRUE(directory.revoke(*lease, soon()));
    EXPECT_THAT(again.wait_for(1), ElementsAre("a gone @" + std::to_string(revision + 1)));
  });
}

TEST_F(EtcdDirectoryTest, AMissingAnswerMayHaveBeenACommit) {
  EtcdServer etcd;
  etcd.start();
  run(etcd, {.request_time_max = 1s}, [&](Directory& directory) {
    const auto revision = put(directory, "a", "1");
    etcd.freeze();
    const auto outcome =
        directory.commit({.puts = {{.key = "a", .value = "2"}}}, Deadline::never());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), Code::unavailable);
    EXPECT_TRUE(outcome.error().maybe_executed());
    EXPECT_THAT(directory.commit({.puts = {{.key = "a"}}}, Deadline::after(10ms)),
                fails_with(Code::deadline_exceeded));
    etcd.thaw();
    const auto snapshot = directory.list("", soon());
    ASSERT_TRUE(snapshot) << snapshot;
    EXPECT_THAT(snapshot->entries[0].value, AnyOf("1", "2", ""));
    EXPECT_GT(put(directory, "a", "3"), revision);
  });
}

TEST_F(EtcdDirectoryTest, AWatchSurvivesSilence) {
  EtcdServer etcd;
  etcd.start();
  run(etcd, {.watch_silence_max = 20ms}, [&](Directory& directory) {
    const auto revision = put(directory, "a", "0");
    Watcher watcher(directory, "", revision + 1);
    for (std::size_t number = 1; number <= 20; ++number) {
      const bool slept = number % 4 != 0 || coroutine::sleep_for(30ms);
      ASSERT_TRUE(slept);
      put(directory, "a", std::to_string(number));
    }
    ASSERT_THAT(watcher.wait_for(20), SizeIs(20));
    for (std::size_t number = 1; number <= 20; ++number) {
      EXPECT_EQ(watcher.changes[number - 1].entry.value, std::to_string(number));
    }
  });
}

TEST_F(EtcdDirectoryTest, OneOfThreeMembersMayDie) {
  EtcdServer first;
  EtcdServer second;
  EtcdServer third;
  EtcdServer::start_cluster({&first, &second, &third});
  run_on_real_loop([&](RealLoop& real) {
    EtcdDirectory directory(real.network, {.endpoints = {first.host(), second.host(), third.host()},
                                           .key_prefix = key_prefix_});
    const auto lease = directory.grant(60s, soon());
    ASSERT_TRUE(lease) << lease;
    const auto revision = put(directory, "a", "1", *lease);
    Watcher watcher(directory, "", revision);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
    first.kill();
    EXPECT_THAT(watcher.join(), fails_with(Code::unavailable));
    // The others elect a leader first, if the first member was the leader.
    while (!directory.keep_alive(*lease, soon())) {
    }
    while (!directory.list("", soon())) {
    }
    const auto later = put(directory, "a", "2");
    Watcher again(directory, "", later);
    EXPECT_THAT(again.wait_for(1), SizeIs(1));

    // The last member has no quorum, and a watch of it must not look like a quiet one.
    second.kill();
    EXPECT_THAT(again.join(), fails_with(Code::unavailable));
    EXPECT_THAT(directory.list("", soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.keep_alive(*lease, soon()), fails_with(Code::unavailable));
    EXPECT_THAT(directory.watch("", later, [](const auto&) {}), fails_with(Code::unavailable));
  });
}

// An etcd with the users root and "node", which may access the keys below /corolane/. Tokens last
// for a second.
class EtcdUsersTest : public EtcdDirectoryTest {
 protected:
  void SetUp() override {
    EtcdDirectoryTest::SetUp();
    if (IsSkipped()) return;
    etcd_.start();
    const auto base64 = [](std::string_view text) { return to_base64(text); };
    run_on_real_loop([&](RealLoop& real) {
      const auto tell = [&](std::string path, std::string body) {
        administer(real.network, etcd_, "/v3/auth/" + std::move(path), std::move(body));
      };
      tell("user/add", R"({"name":"root","password":"secret"})");
      tell("role/add", R"({"name":"root"})");
      tell("user/grant", R"({"user":"root","role":"root"})");
      tell("user/add", R"({"name":"node","password":"secret"})");
      tell("role/add", R"({"name":"nodes"})");
      tell("role/grant", R"({"name":"nodes","perm":{"permType":"READWRITE","key":")" +
                             base64("/corolane/") + R"(","range_end":")" + base64("/corolane0") +
                             R"("}})");
      tell("user/grant", R"({"user":"node","role":"nodes"})");
      tell("enable", "{}");
    });
  }

  Options options(std::string user, std::string password) {
    return {.endpoints = {etcd_.host()}, .user = std::move(user), .password = std::move(password)};
  }

  EtcdServer etcd_{{.arguments = {"--auth-token-ttl=1", "--bcrypt-cost=4"}}};
};

TEST_F(EtcdUsersTest, AUserMayAccessItsKeys) {
  run_on_real_loop([&](RealLoop& real) {
    EtcdDirectory directory(real.network, options("node", "secret"));
    const auto lease = directory.grant(60s, soon());
    ASSERT_TRUE(lease) << lease;
    const auto revision = put(directory, "a", "1", *lease);
    EXPECT_TRUE(directory.keep_alive(*lease, soon()));
    EXPECT_THAT(keys(directory), ElementsAre("a"));
    Watcher watcher(directory, "", revision);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
    EXPECT_TRUE(directory.revoke(*lease, soon()));
    EXPECT_THAT(watcher.wait_for(2), SizeIs(2));
  });
}

TEST_F(EtcdUsersTest, AUserMayNotAccessOtherKeys) {
  run_on_real_loop([&](RealLoop& real) {
    Options elsewhere = options("node", "secret");
    elsewhere.key_prefix = "/elsewhere/";
    EtcdDirectory directory(real.network, elsewhere);
    EXPECT_THAT(directory.list("", soon()), fails_with(Code::permission_denied));
    EXPECT_THAT(directory.commit({.puts = {{.key = "a"}}}, soon()),
                fails_with(Code::permission_denied));
    EXPECT_THAT(directory.watch("", 1, [](const auto&) {}), fails_with(Code::permission_denied));
  });
}

TEST_F(EtcdUsersTest, UnknownUsersAreUnauthenticated) {
  run_on_real_loop([&](RealLoop& real) {
    for (const auto& stranger :
         {options("", ""), options("node", "wrong"), options("nobody", "secret")}) {
      EtcdDirectory directory(real.network, stranger);
      EXPECT_THAT(directory.list("", soon()), fails_with(Code::unauthenticated));
      EXPECT_THAT(directory.commit({.puts = {{.key = "a"}}}, soon()),
                  fails_with(Code::unauthenticated));
      EXPECT_THAT(directory.watch("", 1, [](const auto&) {}), fails_with(Code::unauthenticated));
    }
  });
}

TEST_F(EtcdUsersTest, AForgottenTokenIsReplaced) {
  run_on_real_loop([&](RealLoop& real) {
    EtcdDirectory directory(real.network, options("node", "secret"));
    const auto revision = put(directory, "a");
    // Etcd keeps tokens in memory only.
    etcd_.kill();
    etcd_.start();
    Watcher watcher(directory, "", revision);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
    watcher.cancel();
    EXPECT_THAT(keys(directory), ElementsAre("a"));
    // An unused token expires after a second or two.
    ASSERT_TRUE(coroutine::sleep_for(2500ms));
    EXPECT_GT(put(directory, "a"), revision);
  });
}

TEST_F(EtcdDirectoryTest, AUserIsAcceptedWithoutAuthentication) {
  run(test::shared_etcd(), {.user = "node", .password = "secret"}, [](Directory& directory) {
    put(directory, "a");
    EXPECT_THAT(keys(directory), ElementsAre("a"));
  });
}

class EtcdTlsTest : public EtcdDirectoryTest {
 protected:
  void SetUp() override {
    EtcdDirectoryTest::SetUp();
    if (IsSkipped()) return;
    const auto files = authority_.issue({.addresses = {"127.0.0.1"}});
    etcd_ = std::make_unique<EtcdServer>(EtcdServer::Options{
        .scheme = "https",
        .arguments = {"--cert-file=" + files.certificate_file, "--key-file=" + files.key_file,
                      "--client-cert-auth", "--trusted-ca-file=" + authority_.file()}});
    etcd_->start();
  }

  // Lists the directory as a client with these files.
  Result<Directory::Snapshot> list_with(net::TlsOptions files) {
    Result<Directory::Snapshot> snapshot = Error(Code::unknown, "not listed");
    run_on_real_loop([&](RealLoop& real) {
      const auto context = net::TlsContext::load(std::move(files));
      ASSERT_TRUE(context) << context;
      net::TlsNetwork secure(real.network, **context);
      EtcdDirectory directory(secure, {.endpoints = {etcd_->host()}});
      snapshot = directory.list("", soon());
    });
    return snapshot;
  }

  test::CertificateAuthority authority_{"the cluster"};
  std::unique_ptr<EtcdServer> etcd_;
};

TEST_F(EtcdTlsTest, BothEndsPresentTheirCertificates) {
  run_on_real_loop([&](RealLoop& real) {
    const auto files = authority_.issue({.dns_names = {"node"}});
    const auto context = net::TlsContext::load({.certificate_file = files.certificate_file,
                                                .key_file = files.key_file,
                                                .ca_file = authority_.file()});
    ASSERT_TRUE(context) << context;
    net::TlsNetwork secure(real.network, **context);
    EtcdDirectory directory(secure, {.endpoints = {etcd_->host()}});
    const auto revision = put(directory, "a", "1");
    EXPECT_THAT(keys(directory), ElementsAre("a"));
    Watcher watcher(directory, "", revision);
    EXPECT_THAT(watcher.wait_for(1), SizeIs(1));
    // A connection for calls, and one for the watch.
    EXPECT_EQ(secure.statistics().opened_count, 2u);
  });
}

TEST_F(EtcdTlsTest, AnUntrustedServerIsUnavailable) {
  const test::CertificateAuthority stranger("somebody else");
  const auto snapshot = list_with({.ca_file = stranger.file()});
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().code(), Code::unavailable);
  EXPECT_THAT(snapshot.error().message(), HasSubstr("certificate"));
}

TEST_F(EtcdTlsTest, AClientWithoutACertificateIsRefused) {
  EXPECT_THAT(list_with({.ca_file = authority_.file()}), fails_with(Code::unavailable));
}

TEST_F(EtcdTlsTest, WithoutTlsItIsUnavailable) {
  run(*etcd_, [](Directory& directory) {
    EXPECT_THAT(directory.list("", soon()), fails_with(Code::unavailable));
  });
}

}  // namespace
}  // namespace corolane::framework
