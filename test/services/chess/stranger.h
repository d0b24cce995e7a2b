// SPDX-License-Identifier: MIT
// A client that has read every .proto, and tries each method at each door for clients.
//
//   Stranger stranger(network, {.frames = ..., .http = ...}, token);
//   stranger.reach_by_frames();  // {"corolane.services.chess.Chess/Join", ...}
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/http.h"
#include "net/network.h"
#include "rpc/client/client.h"
#include "rpc/options.pb.h"
#include "rpc/reflection/reflection.corolane.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"
#include "test/fixtures/real_loop.h"

namespace corolane::test {

// Names of methods, "package.Service/Method".
using MethodNames = std::set<std::string>;

// The methods of all services that this program was generated from. A test that is linked with the
// libraries of a node knows all that the node could serve.
struct GeneratedMethods {
  MethodNames all = {};
  MethodNames for_clients = {};  // Those with the option `public`.
  MethodNames one_way = {};
  std::vector<std::string> symbols = {};  // The symbols that reflection knows.

  MethodNames internal() const {
    MethodNames rest;
    std::ranges::set_difference(all, for_clients, std::inserter(rest, rest.end()));
    return rest;
  }

  static GeneratedMethods find() {
    namespace pb = google::protobuf;
    GeneratedMethods found;
    std::vector<std::string> files;
    pb::DescriptorPool::internal_generated_database()->FindAllFileNames(&files);
    for (const std::string& name : files) {
      found.add(*pb::DescriptorPool::generated_pool()->FindFileByName(name));
    }
    return found;
  }

 private:
  void add(const google::protobuf::FileDescriptor& file) {
    for (int i = 0; i < file.message_type_count(); ++i) {
      symbols.push_back(file.message_type(i)->full_name());
    }
    for (int i = 0; i < file.service_count(); ++i) {
      const auto& service = *file.service(i);
      symbols.push_back(service.full_name());
      for (int j = 0; j < service.method_count(); ++j) {
        const auto& options = service.method(j)->options().GetExtension(corolane::method);
        const std::string name = service.full_name() + "/" + service.method(j)->name();
        symbols.push_back(service.method(j)->full_name());
        all.insert(name);
        if (options.public_()) for_clients.insert(name);
        if (options.one_way()) one_way.insert(name);
      }
    }
  }
};

inline const GeneratedMethods& generated_methods() {
  static const GeneratedMethods methods = GeneratedMethods::find();
  return methods;
}

// Where a node serves clients.
struct ClientDoors {
  net::Endpoint frames = {};
  net::Endpoint http = {};
};

class Stranger {
 public:
  // An empty token is none.
  Stranger(net::Network& network, ClientDoors doors, std::string token)
      : network_(network), doors_(std::move(doors)), token_(std::move(token)) {}

  // The methods of which a frame other than a refusal to know them comes back. A call that has
  // reached a handler may wait there, so it has a short deadline, which the server keeps. A method
  // that does not answer counts if the server says nothing against it.
  MethodNames reach_by_frames() {
    FrameTrial trial(network_, doors_.frames, token_);
    for (const std::string& name : generated_methods().all) trial.call(name);
    return trial.reached();
  }

  // The methods that are not said to be missing, and let this client in.
  MethodNames reach_by_http() {
    MethodNames reached;
    for (const std::string& name : generated_methods().all) {
      if (answers_http(name)) reached.insert(name);
    }
    return reached;
  }

  // The methods that reflection names, by itself or for any symbol.
  MethodNames see_by_reflection() {
    MethodNames seen;
    const auto client =
        rpc::Client::connect(network_, {doors_.frames.address, doors_.frames.port}, soon(),
                             {.token = [this]() -> Result<std::string> { return token_; }});
    if (!client) return seen;
    rpc::ReflectionClient reflection(**client);
    const auto listed = reflection.list_services({});
    EXPECT_TRUE(listed) << listed;
    if (!listed) return seen;
    for (const auto& service : listed->services()) {
      for (const auto& method : service.methods()) seen.insert(method.full_name());
    }
    for (const std::string& symbol : generated_methods().symbols) {
      rpc::DescribeRequest request;
      request.set_symbol(symbol);
      if (const auto described = reflection.describe(request)) add_methods(*described, seen);
    }
    return seen;
  }

  // The methods on the list that HTTP serves, in all of its forms.
  MethodNames see_in_listing() {
    const std::string lists = fetch("/") + fetch("/?format=json") + fetch("/", "text/html");
    MethodNames seen;
    for (const std::string& name : generated_methods().all) {
      if (lists.contains(name)) seen.insert(name);
    }
    return seen;
  }

 private:
  // How long a call may take that reaches its handler.
  static constexpr std::chrono::milliseconds call_time{50};

  // All calls on one connection, as no well-behaved client makes them: it does not look whether the
  // server has let it in.
  class FrameTrial {
   public:
    FrameTrial(net::Network& network, const net::Endpoint& door, const std::string& token) {
      auto stream = network.connect(door, soon());
      EXPECT_TRUE(stream) << stream;
      if (!stream) return;
      stream_ = *std::move(stream);
      rpc::Hello hello;
      hello.set_token(token);
      send({.type = rpc::FrameType::hello,
            .call_id = rpc::hello_magic,
            .method_id = rpc::protocol_version},
           hello.SerializeAsString());
      receive_one();
    }

    void call(const std::string& name) {
      constexpr auto chain = std::to_array<rpc::ObjectCall>({{.method = "a.B/C", .id = "d"}});
      const rpc::ObjectTarget plain{.id = "victim"};
      const rpc::ObjectTarget forged{
          .id = "victim", .node_epoch = 1, .partition_epoch = 1, .chain = chain};
      const rpc::Principal admin{.id = "admin", .roles = {"admin"}};
      for (const rpc::ObjectTarget* const target :
           {static_cast<const rpc::ObjectTarget*>(nullptr), &plain, &forged}) {
        const rpc::ExtensionBytes extension({}, &admin, target);
        const std::uint64_t id = names_.size() + 1;
        names_.emplace(id, name);
        if (!generated_methods().one_way.contains(name)) unanswered_.insert(id);
        send({.type = rpc::FrameType::request,
              .call_id = id,
              .method_id = rpc::method_id(name),
              .time = static_cast<std::uint32_t>(std::chrono::microseconds(call_time).count()),
              .extension_size = static_cast<std::uint32_t>(extension.view().size())},
             std::string(extension.view()));
      }
    }

    MethodNames reached() {
      send({.type = rpc::FrameType::ping});
      while (!(has_pong_ && unanswered_.empty()) && receive_one()) {
      }
      EXPECT_TRUE(unanswered_.empty() || !is_let_in_) << "a call got no answer";
      MethodNames reached = reached_;
      for (const auto& [id, name] : names_) {
        const bool was_taken = has_pong_ && generated_methods().one_way.contains(name);
        if (was_taken && !refused_.contains(name)) reached.insert(name);
      }
      return reached;
    }

   private:
    void send(rpc::FrameHeader header, const std::string& payload = "") {
      if (stream_ == nullptr) return;
      header.payload_size = static_cast<std::uint32_t>(payload.size());
      std::array<std::byte, rpc::frame_header_size> bytes;
      rpc::encode(header, bytes);
      // A server that has refused the client may have closed.
      static_cast<void>(stream_->write_all(bytes, soon()));
      static_cast<void>(stream_->write_all(net::bytes_of(payload), soon()));
    }

    // False when the server has closed.
    bool receive_one() {
      if (stream_ == nullptr) return false;
      for (rpc::Frame frame;;) {
        const auto more = decoder_.next(frame);
        if (!more) return false;
        if (*more) return take(frame), true;
        const auto count = stream_->read_some(buffer_, soon());
        if (!count || *count == 0) return false;
        decoder_.feed(std::span(buffer_).first(*count));
      }
    }

    void take(const rpc::Frame& frame) {
      using rpc::FrameType;
      if (frame.header.type == FrameType::hello) is_let_in_ = true;
      if (frame.header.type == FrameType::pong) has_pong_ = true;
      const bool is_answer =
          frame.header.type == FrameType::reply || frame.header.type == FrameType::item;
      if (!is_answer) return;
      const std::string& name = names_.at(frame.header.call_id);
      if (frame.header.type == FrameType::reply) unanswered_.erase(frame.header.call_id);
      const bool is_missing = frame.header.code == static_cast<std::uint8_t>(Code::unimplemented) &&
                              rpc::text_of(frame) == "the server has no such method";
      (is_missing ? refused_ : reached_).insert(name);
    }

    std::unique_ptr<net::Stream> stream_;
    rpc::FrameDecoder decoder_{std::size_t{1} << 20};
    std::array<std::byte, 4096> buffer_;
    std::map<std::uint64_t, std::string> names_;  // By call id.
    std::set<std::uint64_t> unanswered_;
    MethodNames reached_;
    MethodNames refused_;
    bool is_let_in_ = false;
    bool has_pong_ = false;
  };

  // The ways in which HTTP carries a call: one message, a stream of them, and a link.
  static std::array<net::HttpRequest, 3> requests_of(const std::string& name) {
    constexpr std::string_view envelope("\0\0\0\0\2{}", 7);
    return {net::HttpRequest{.method = "POST",
                             .target = "/" + name,
                             .body = "{}",
                             .headers = {{"Content-Type", "application/json"}}},
            net::HttpRequest{.method = "POST",
                             .target = "/" + name,
                             .body = std::string(envelope),
                             .headers = {{"Content-Type", "application/connect+json"}}},
            net::HttpRequest{.target = "/" + name + "?connect=v1&encoding=json&message=%7B%7D"}};
  }

  bool answers_http(const std::string& name) {
    for (const char* object : {"", "victim"}) {
      for (net::HttpRequest& request : requests_of(name)) {
        if (*object != '\0') request.headers.add("Corolane-Object", object);
        request.headers.add("Connect-Timeout-Ms", std::to_string(call_time.count()));
        const net::HttpResponse answer = fetch_with_token(std::move(request));
        const bool is_missing = answer.status == 404 && answer.body.contains("no method /");
        const bool is_shut_out =
            answer.status == 401 ||
            (answer.status == 200 && answer.body.contains(R"({"error":{"code":"unauthenticated")"));
        // That a public method is called in another way is no secret.
        const bool is_public = generated_methods().for_clients.contains(name);
        const bool is_another_way =
            is_public && (answer.status == 405 || answer.status == 406 || answer.status == 415);
        if (!is_missing && !is_shut_out && !is_another_way) return true;
      }
    }
    return false;
  }

  std::string fetch(const std::string& target, const std::string& accepted = "*/*") {
    net::HttpRequest request{.target = target};
    request.headers.add("Accept", accepted);
    return fetch_with_token(std::move(request)).body;
  }

  net::HttpResponse fetch_with_token(net::HttpRequest request) {
    if (!token_.empty()) request.headers.add("Authorization", "Bearer " + token_);
    auto answer =
        net::fetch_http(network_, {doors_.http.address, doors_.http.port}, request, soon());
    EXPECT_TRUE(answer) << answer.error();
    return answer ? *std::move(answer) : net::HttpResponse{.status = 0};
  }

  static void add_methods(const rpc::DescribeReply& description, MethodNames& seen) {
    for (const std::string& bytes : description.files()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      for (const auto& service : file.service()) {
        for (const auto& method : service.method()) {
          seen.insert(file.package() + "." + service.name() + "/" + method.name());
        }
      }
    }
    for (const rpc::Comment& comment : description.comments()) {
      std::string name = comment.symbol();
      name[std::min(name.rfind('.'), name.size() - 1)] = '/';
      if (generated_methods().all.contains(name)) seen.insert(std::move(name));
    }
  }

  net::Network& network_;
  const ClientDoors doors_;
  const std::string token_;
};

}  // namespace corolane::test
