// SPDX-License-Identifier: MIT
// The store and the directory of a configuration, inside of TLS: a real redis and a real etcd that
// take only clients with a certificate of the cluster's authority.
#include "framework/node/detail/backends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "net/testing/certificates.h"
#include "test/fixtures/real_loop.h"
#include "tools/processes/etcd_server.h"
#include "tools/processes/redis_server.h"
#include "tools/processes/reserved_port.h"

namespace corolane::framework::detail {
namespace {

using test::CertificateAuthority;
using test::CertificateFiles;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

constexpr ObjectKey alice = {.type = "chess.Player", .id = "alice"};

class BackendsTest : public testing::Test {
 protected:
  PeerTlsConfig with(const CertificateFiles& own) const {
    return {.ca_file = authority_.file(),
            .certificate_file = own.certificate_file,
            .key_file = own.key_file};
  }
  PeerTlsConfig without_certificate() const { return {.ca_file = authority_.file()}; }

  CertificateAuthority authority_{"the cluster"};
  CertificateAuthority stranger_{"a stranger"};
  const CertificateFiles server_ = authority_.issue({.addresses = {"127.0.0.1"}});
  const CertificateFiles node_ = authority_.issue({.dns_names = {"node"}});
};

TEST_F(BackendsTest, RedisTakesANodeWithItsCertificateAndThePasswordOfAFile) {
  COROLANE_NEEDS(test::RedisServer::missing());
  const test::ReservedPort port;
  const test::RedisServer redis({"--tls-port", std::to_string(port.number()), "--tls-cert-file",
                                 server_.certificate_file, "--tls-key-file", server_.key_file,
                                 "--tls-ca-cert-file", authority_.file(), "--tls-auth-clients",
                                 "yes", "--requirepass", "secret"});
  StoreConfig config;
  config.kind = StoreKind::redis;
  config.redis.servers = {"127.0.0.1:" + std::to_string(port.number())};
  config.redis.password_file = authority_.write("password", "secret\n");
  const auto seal = [&](const PeerTlsConfig& tls) {
    Result<StoredObject> sealed = Error(Code::unknown, "not sealed");
    config.redis.tls = tls;
    run_on_real_loop([&](RealLoop& real) {
      const auto store = open_store(config, "cluster", real.network);
      ASSERT_TRUE(store) << store;
      sealed = (*store)->seal(alice, 1, soon());
    });
    return sealed;
  };
  const auto sealed = seal(with(node_));
  EXPECT_TRUE(sealed) << sealed;
  EXPECT_FALSE(seal(without_certificate()));
  EXPECT_FALSE(seal(with(stranger_.issue({.dns_names = {"node"}}))));
  const auto untrusted = seal({.ca_file = stranger_.file()});
  ASSERT_FALSE(untrusted);
  EXPECT_THAT(untrusted.error().message(), HasSubstr("certificate"));
}

TEST_F(BackendsTest, EtcdTakesANodeWithItsCertificate) {
  COROLANE_NEEDS(test::EtcdServer::obstacle());
  test::EtcdServer etcd(
      {.scheme = "https",
       .arguments = {"--cert-file=" + server_.certificate_file, "--key-file=" + server_.key_file,
                     "--client-cert-auth", "--trusted-ca-file=" + authority_.file()}});
  etcd.start();
  ClusterConfig config;
  config.directory = DirectoryKind::etcd;
  config.etcd.servers = {"127.0.0.1:" + std::to_string(etcd.host().port)};
  const auto list = [&](const PeerTlsConfig& tls) {
    Result<Directory::Snapshot> listed = Error(Code::unknown, "not listed");
    config.etcd.tls = tls;
    run_on_real_loop([&](RealLoop& real) {
      const auto directory = open_directory(config, real.network, 1);
      ASSERT_TRUE(directory) << directory;
      listed = (*directory)->list("", soon());
    });
    return listed;
  };
  const auto listed = list(with(node_));
  EXPECT_TRUE(listed) << listed;
  EXPECT_FALSE(list(without_certificate()));
  EXPECT_FALSE(list({.ca_file = stranger_.file()}));
}

}  // namespace
}  // namespace corolane::framework::detail
