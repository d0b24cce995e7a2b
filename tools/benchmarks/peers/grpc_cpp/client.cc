// SPDX-License-Identifier: MIT
// The load: a number of calls in flight on each channel; each channel has its own connection.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "tools/benchmarks/echo.grpc.pb.h"
#include "tools/benchmarks/peers/grpc_cpp/peer.h"

namespace corolane::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t payload_bytes = 100;

// Performs one call after the other.
struct PendingCall {
  explicit PendingCall(Echo::Stub& stub_of_channel) : stub(stub_of_channel) {
    request.set_payload(std::string(payload_bytes, 'p'));
  }

  Echo::Stub& stub;
  EchoRequest request;
  EchoReply reply;
  grpc::Status status;
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientAsyncResponseReader<EchoReply>> reader;
  Clock::time_point begun_at;

  void begin(grpc::CompletionQueue& queue) {
    reader.reset();
    context.emplace();
    begun_at = Clock::now();
    reader = stub.AsyncEcho(&*context, request, &queue);
    reader->Finish(&reply, &status, this);
  }
};

bool run(std::deque<PendingCall>& calls, grpc::CompletionQueue& queue, Clock::duration time) {
  std::vector<Clock::duration> latencies;
  const Clock::time_point start = Clock::now();
  for (PendingCall& call : calls) call.begin(queue);
  void* tag = nullptr;
  bool succeeded = false;
  for (std::size_t running = calls.size(); running > 0 && queue.Next(&tag, &succeeded);) {
    auto& call = *static_cast<PendingCall*>(tag);
    if (!call.status.ok() || call.reply.payload() != call.request.payload()) {
      std::printf("a call failed: %s\n", call.status.error_message().c_str());
      return false;
    }
    const Clock::time_point now = Clock::now();
    latencies.push_back(now - call.begun_at);
    if (now < start + time) {
      call.begin(queue);
    } else {
      --running;
    }
  }
  const auto elapsed = Clock::now() - start;
  std::ranges::sort(latencies);
  std::printf("%zu %lld %lld %lld\n", latencies.size(), static_cast<long long>(elapsed.count()),
              static_cast<long long>(latencies[latencies.size() / 2].count()),
              static_cast<long long>(latencies[latencies.size() * 99 / 100].count()));
  std::fflush(stdout);
  return true;
}

}  // namespace

int call_grpc(const std::string& port, std::size_t connection_count, std::size_t in_flight) {
  grpc::ChannelArguments arguments;
  // Otherwise channels to the same address share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::vector<std::unique_ptr<Echo::Stub>> stubs;
  std::deque<PendingCall> calls;
  for (std::size_t count = 0; count < connection_count; ++count) {
    stubs.push_back(Echo::NewStub(grpc::CreateCustomChannel(
        "127.0.0.1:" + port, grpc::InsecureChannelCredentials(), arguments)));
    for (std::size_t each = 0; each < in_flight; ++each) {
      calls.emplace_back(*stubs.back());
    }
  }
  grpc::CompletionQueue queue;
  for (std::string line; std::getline(std::cin, line);) {
    if (!run(calls, queue, std::chrono::milliseconds(std::stoul(line)))) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace corolane::bench
