// SPDX-License-Identifier: MIT
// Follows greeter_async_server of gRPC's examples, with as many calls posted as a row has in
// flight.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>

#include "tools/benchmarks/echo.grpc.pb.h"
#include "tools/benchmarks/peers/grpc_cpp/peer.h"

namespace corolane::bench {
namespace {

constexpr std::size_t posted_call_count = 1'024;

// Serves one call after the other.
class ServedCall {
 public:
  ServedCall(Echo::AsyncService& service, grpc::ServerCompletionQueue& queue)
      : service_(service), queue_(queue) {
    post();
  }

  // Called when an operation of the call has completed.
  void proceed() {
    if (has_answered_) {
      post();
    } else {
      has_answered_ = true;
      reply_.set_payload(request_.payload());
      responder_->Finish(reply_, grpc::Status::OK, this);
    }
  }

  void post() {
    has_answered_ = false;
    responder_.reset();
    context_.emplace();
    responder_.emplace(&*context_);
    service_.RequestEcho(&*context_, &request_, &*responder_, &queue_, &queue_, this);
  }

 private:
  Echo::AsyncService& service_;
  grpc::ServerCompletionQueue& queue_;
  EchoRequest request_;
  EchoReply reply_;
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<EchoReply>> responder_;
  bool has_answered_ = false;
};

}  // namespace

int serve_grpc() {
  Echo::AsyncService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto queue = builder.AddCompletionQueue();
  const auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    std::puts("the server cannot start");
    return EXIT_FAILURE;
  }
  std::deque<ServedCall> calls;
  for (std::size_t count = 0; count < posted_call_count; ++count) {
    calls.emplace_back(service, *queue);
  }
  std::printf("%d\n", port);
  std::fflush(stdout);
  void* tag = nullptr;
  for (bool succeeded = false; queue->Next(&tag, &succeeded);) {
    auto& call = *static_cast<ServedCall*>(tag);
    succeeded ? call.proceed() : call.post();
  }
  return EXIT_SUCCESS;
}

}  // namespace corolane::bench
