// SPDX-License-Identifier: MIT
// The server that the conformance suite of Connect starts: reads one ServerCompatRequest from its
// input, prints one ServerCompatResponse, each behind its size in four bytes (big-endian), and
// serves at the client door of a node until the suite, or its end, kills it.
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/node/node.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/error_details.h"
#include "test/rpc/connect/conformance.corolane.h"

namespace corolane::test {
namespace {

namespace suite = connectrpc::conformance::v1;
using google::protobuf::RepeatedPtrField;

void put(const RepeatedPtrField<suite::Header>& from, rpc::Headers& to) {
  for (const suite::Header& header : from) {
    for (const std::string& value : header.value()) to.add(header.name(), value);
  }
}

// The headers and the timeout that the server has seen of a call.
suite::ConformancePayload::RequestInfo info_of(const rpc::Context& context) {
  suite::ConformancePayload::RequestInfo info;
  for (const auto& [name, value] : context.headers()) {
    suite::Header* header = nullptr;
    for (suite::Header& seen : *info.mutable_request_headers()) {
      if (seen.name() == name) header = &seen;
    }
    if (header == nullptr) header = info.add_request_headers();
    header->set_name(std::string(name));
    header->add_value(std::string(value));
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(context.deadline().remaining());
  if (left < std::chrono::hours(1)) info.set_timeout_ms(left.count());
  return info;
}

template <typename Definition>
Result<void> delay(const Definition& definition) {
  if (definition.response_delay_ms() == 0) return {};
  return coroutine::sleep_for(std::chrono::milliseconds(definition.response_delay_ms()));
}

corolane::Error error_of(const suite::Error& error) {
  corolane::Error result(code_from_number(static_cast<std::uint32_t>(error.code())),
                         error.message());
  for (const google::protobuf::Any& detail : error.details()) {
    result = rpc::with_message(std::move(result), detail);
  }
  return result;
}

template <typename Response>
Result<Response> answer(const suite::UnaryResponseDefinition& definition,
                        suite::ConformancePayload::RequestInfo info, rpc::Context& context) {
  put(definition.response_headers(), context.reply_headers());
  put(definition.response_trailers(), context.reply_trailers());
  if (auto delayed = delay(definition); !delayed) return delayed.error();
  if (definition.has_error()) return rpc::with_message(error_of(definition.error()), info);
  Response response;
  response.mutable_payload()->set_data(definition.response_data());
  *response.mutable_payload()->mutable_request_info() = std::move(info);
  return response;
}

template <typename Response>
Result<void> stream(const suite::StreamResponseDefinition& definition,
                    const suite::ConformancePayload::RequestInfo& info, rpc::Writer<Response>& out,
                    rpc::Context& context) {
  put(definition.response_headers(), context.reply_headers());
  put(definition.response_trailers(), context.reply_trailers());
  for (int i = 0; i < definition.response_data_size(); ++i) {
    if (auto delayed = delay(definition); !delayed) return delayed.error();
    Response response;
    response.mutable_payload()->set_data(definition.response_data(i));
    if (i == 0) *response.mutable_payload()->mutable_request_info() = info;
    if (auto written = out.write(response); !written) return written;
  }
  if (!definition.has_error()) return {};
  corolane::Error error = error_of(definition.error());
  if (definition.response_data().empty()) error = rpc::with_message(std::move(error), info);
  return error;
}

class ConformanceService final : public suite::ConformanceServiceBase {
 public:
  Result<suite::UnaryResponse> unary(const suite::UnaryRequest& request,
                                     rpc::Context& context) override {
    auto info = info_of(context);
    info.add_requests()->PackFrom(request);
    return answer<suite::UnaryResponse>(request.response_definition(), std::move(info), context);
  }
  Result<suite::IdempotentUnaryResponse> idempotent_unary(
      const suite::IdempotentUnaryRequest& request, rpc::Context& context) override {
    auto info = info_of(context);
    info.add_requests()->PackFrom(request);
    return answer<suite::IdempotentUnaryResponse>(request.response_definition(), std::move(info),
                                                  context);
  }
  Result<suite::UnimplementedResponse> unimplemented(const suite::UnimplementedRequest&,
                                                     rpc::Context&) override {
    return corolane::Error(Code::unimplemented, "this method is not implemented");
  }
  Result<void> server_stream(const suite::ServerStreamRequest& request,
                             rpc::Writer<suite::ServerStreamResponse>& out,
                             rpc::Context& context) override {
    auto info = info_of(context);
    info.add_requests()->PackFrom(request);
    return stream(request.response_definition(), info, out, context);
  }
  Result<suite::ClientStreamResponse> client_stream(rpc::Requests<suite::ClientStreamRequest>& in,
                                                    rpc::Context& context) override {
    auto info = info_of(context);
    suite::UnaryResponseDefinition definition;
    for (suite::ClientStreamRequest request; in.read(request);) {
      if (info.requests().empty()) definition = request.response_definition();
      info.add_requests()->PackFrom(request);
    }
    if (auto read = in.finish(); !read) return read.error();
    return answer<suite::ClientStreamResponse>(definition, std::move(info), context);
  }
  // Over HTTP/1.1 the whole stream of requests comes before the first response.
  Result<void> bidi_stream(rpc::Requests<suite::BidiStreamRequest>& in,
                           rpc::Writer<suite::BidiStreamResponse>& out,
                           rpc::Context& context) override {
    auto info = info_of(context);
    suite::StreamResponseDefinition definition;
    for (suite::BidiStreamRequest request; in.read(request);) {
      if (info.requests().empty()) definition = request.response_definition();
      info.add_requests()->PackFrom(request);
    }
    if (auto read = in.finish(); !read) return read;
    return stream(definition, info, out, context);
  }
};

std::string read_exactly(std::size_t size) {
  std::string text(size, '\0');
  return std::fread(text.data(), 1, size, stdin) == size ? text : std::string();
}

void write_behind_size(const std::string& text) {
  std::string size;
  for (int shift = 24; shift >= 0; shift -= 8) {
    size += static_cast<char>(text.size() >> shift & 0xff);
  }
  std::cout << size << text << std::flush;
}

framework::NodeConfig node_config() {
  framework::NodeConfig config;
  config.name = "conformance";
  config.clients.listen = "127.0.0.1:0";
  config.clients.http = "127.0.0.1:0";
  config.clients.login.anonymous = true;
  config.admin.listen = "127.0.0.1:0";
  config.log_level = framework::LogLevel::error;
  config.shards = 1;
  config.store.kind = framework::StoreKind::memory;
  return config;
}

Result<void> serve(net::Network& network) {
  framework::Node node(node_config(), network);
  node.serve(ConformanceService());
  if (auto started = node.start(); !started) return started;
  const net::Endpoint endpoint = node.endpoints().http.value();
  suite::ServerCompatResponse response;
  response.set_host(endpoint.address);
  response.set_port(endpoint.port);
  write_behind_size(response.SerializeAsString());
  return coroutine::sleep_until(Deadline::never());
}

int run() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string size_text = read_exactly(4);
  std::size_t size = 0;
  for (const char byte : size_text) size = size << 8 | static_cast<unsigned char>(byte);
  suite::ServerCompatRequest request;
  if (size_text.empty() || !request.ParseFromString(read_exactly(size)) || request.use_tls()) {
    std::cerr << "conformance_server: expects a ServerCompatRequest without TLS on its input\n";
    return EXIT_FAILURE;
  }
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  Result<void> served;
  const auto ran = scheduler.run("main", [&] { served = serve(network); });
  if (!ran) served = ran.error();
  if (!served) std::cerr << served << '\n';
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::test

int main() { return corolane::test::run(); }
