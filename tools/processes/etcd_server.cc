// SPDX-License-Identifier: MIT
// Debian's etcd, as a child process.
#include "tools/processes/etcd_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::test {
namespace {

constexpr const char* program = "/usr/bin/etcd";

// A socket that closes itself.
class Socket {
 public:
  Socket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool connect(std::uint16_t port) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
           0;
  }
  bool send(std::string_view text) const {
    return ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // Reads until the peer closes.
  std::string receive() const {
    std::string all;
    std::array<char, 4096> part;
    for (ssize_t size; (size = ::recv(descriptor_, part.data(), part.size(), 0)) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  int descriptor_;
};

bool is_healthy(std::uint16_t port) {
  const Socket socket;
  return socket.connect(port) && socket.send("GET /health HTTP/1.0\r\n\r\n") &&
         socket.receive().contains(R"("health":"true")");
}

}  // namespace

std::string EtcdServer::obstacle() {
  if (std::filesystem::exists(program)) return "";
  return "etcd is not installed; tools/setup --tests installs it";
}

EtcdServer::EtcdServer(Options options)
    : options_(std::move(options)), host_{.host = "127.0.0.1", .port = client_port_.number()} {}

void EtcdServer::start() {
  run({"--initial-cluster=" + name() + "=" + peer_url()});
  wait_until_healthy();
}

void EtcdServer::start_cluster(const std::vector<EtcdServer*>& members) {
  std::string cluster;
  for (const EtcdServer* const member : members) {
    cluster += (cluster.empty() ? "" : ",") + member->name() + "=" + member->peer_url();
  }
  for (EtcdServer* const member : members) member->run({"--initial-cluster=" + cluster});
  for (EtcdServer* const member : members) member->wait_until_healthy();
}

void EtcdServer::run(std::vector<std::string> arguments) {
  const std::string client_url = options_.scheme + "://127.0.0.1:" + std::to_string(host_.port);
  for (const std::string& argument : {
           "--name=" + name(),
           "--data-dir=" + (folder_.path() / "data").string(),
           "--listen-client-urls=" + client_url,
           "--advertise-client-urls=" + client_url,
           "--listen-peer-urls=" + peer_url(),
           "--initial-advertise-peer-urls=" + peer_url(),
           "--listen-metrics-urls=http://127.0.0.1:" + std::to_string(health_port_.number()),
           // Leases of one second, and a leader elected within that time.
           std::string("--heartbeat-interval=50"),
           std::string("--election-timeout=500"),
           std::string("--log-level=warn"),
       }) {
    arguments.push_back(argument);
  }
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  process_.emplace(program, std::move(arguments));
}

void EtcdServer::wait_until_healthy() {
  const auto start = std::chrono::steady_clock::now();
  while (!is_healthy(health_port_.number())) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(30)) {
      std::cerr << process_->error_output();
      check(false, "an etcd starts within 30 s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

EtcdServer& shared_etcd() {
  static const auto server = [] {
    auto begun = std::make_unique<EtcdServer>();
    begun->start();
    return begun;
  }();
  return *server;
}

}  // namespace corolane::test
