// SPDX-License-Identifier: MIT
#include "tools/benchmarks/ours/edge.h"

#include <chrono>
#include <memory>
#include <utility>

#include "coroutine/task.h"
#include "framework/edge/follow.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/node/shard.h"
#include "net/uv/uv_network.h"
#include "rpc/auth/jwt.h"
#include "tools/benchmarks/edge.corolane.h"
#include "tools/benchmarks/network/talk.h"
#include "tools/benchmarks/ours/echo_service.h"
#include "tools/benchmarks/ours/login.h"
#include "tools/benchmarks/ours/one_process.h"
#include "tools/benchmarks/ours/serve_in_task.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr const char* crier_id = "crier";
constexpr Duration cry_interval = 100ms;

class Crier final : public CrierObject {
 public:
  Result<AnnounceReply> announce(const AnnounceRequest&, rpc::Context&) override {
    Cry cry;
    cry.set_text(std::string(publication_text_bytes, 'c'));
    publish(std::move(cry));
    return AnnounceReply();
  }
};

class SquareService final : public SquareBase {
 public:
  explicit SquareService(framework::Router& router) : router_(router) {}

  Result<FollowReply> follow(const FollowRequest&, rpc::Context& context) override {
    const auto group = framework::follow(context, CrierClient(router_, crier_id).subscribe());
    if (!group) return group.error();
    FollowReply reply;
    reply.set_group(*group);
    return reply;
  }

  Result<AnnounceReply> announce(const AnnounceRequest& request, rpc::Context&) override {
    return CrierClient(router_, crier_id).announce(request);
  }

 private:
  framework::Router& router_;
};

// The rules of the client door, but for its number of places.
framework::NodeConfig edge_config() {
  framework::NodeConfig config = node_config("edge", 1);
  config.clients.connections_max = 1'000'000;
  config.clients.address_share = 100;
  return config;
}

Result<void> cry_for_ever(framework::Shard& shard) {
  CrierClient crier(shard.router(), crier_id);
  {
    auto cries = crier.subscribe();
    for (;;) {
      const auto cry = cries.next(Deadline::never());
      if (!cry) return cry.error();
      if (!cry->is_gap()) break;
    }
  }
  for (;;) {
    auto announced = crier.announce({});
    if (!announced) return announced.error();
    if (auto slept = coroutine::sleep_for(cry_interval); !slept) return slept;
  }
}

Result<void> serve(net::EventLoop& loop, rpc::Login login, bool cries) {
  net::UvNetwork network(loop);
  const framework::NodeConfig config = edge_config();
  framework::Node node(config, network, framework::Log(config.log_level),
                       {.has_control_loop = true});
  if (login) node.set_login(std::move(login));
  node.serve([](framework::Shard&) { return std::make_unique<EchoService>(); });
  node.serve(
      [](framework::Shard& shard) { return std::make_unique<SquareService>(shard.router()); });
  node.host<Crier>();
  if (auto started = node.start(); !started) return started;
  node.observe();
  Seat::announce(node.endpoints().clients.port);
  if (cries) return node.on_each_shard(cry_for_ever);
  return coroutine::sleep_until(Deadline::never());
}

}  // namespace

Error serve_our_edge(const Seat& seat) {
  return serve_in_task(
      seat, [](net::EventLoop& loop) { return serve(loop, take_any_token, /*cries=*/false); });
}

Error serve_our_anonymous_edge(const Seat& seat) {
  return serve_in_task(seat, [](net::EventLoop& loop) { return serve(loop, {}, /*cries=*/false); });
}

Serve serve_our_edge_with_tokens(std::string public_key_pem) {
  return [public_key_pem = std::move(public_key_pem)](const Seat& seat) {
    auto keys = rpc::JwtKeys::parse(public_key_pem);
    if (!keys) return keys.error();
    const rpc::JwtVerifier verifier(*std::move(keys), {.issuer = "bench", .audience = "bench"});
    return serve_in_task(seat, [&](net::EventLoop& loop) {
      return serve(
          loop,
          [&](std::string_view token, const rpc::LoginPeer&) { return verifier.verify(token); },
          /*cries=*/false);
    });
  };
}

Error serve_our_crying_edge(const Seat& seat) {
  return serve_in_task(
      seat, [](net::EventLoop& loop) { return serve(loop, take_any_token, /*cries=*/true); });
}

}  // namespace corolane::bench
