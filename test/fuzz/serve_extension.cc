// SPDX-License-Identifier: MIT
// The extension of a request that is served: objects on the smallest stacks, behind a door for
// nodes and one for clients. For every extension the server survives, a good client is still
// served, and every call ends.
//
// Input: a byte that chooses the stack and the door, and the bytes of a RequestExtension.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/virtual_time.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "rpc/wire/frame.h"
#include "test/framework/counter_shard.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

using namespace std::chrono_literals;
using test::Counter;

// More than a request may have: a longer extension is refused as a frame.
constexpr std::size_t extension_bytes_max = 60 * 1024;

// The public methods of a counter, on stacks of that size.
class Rows {
 public:
  explicit Rows(std::size_t stack_size_bytes) {
    for (rpc::Method method : Counter::object_type().methods) {
      method.stack_size_bytes = stack_size_bytes;
      method.is_public = true;
      rows_.push_back(method);
    }
  }
  framework::ObjectType type() const {
    framework::ObjectType type = Counter::object_type();
    type.methods = rows_;
    return type;
  }

 private:
  std::vector<rpc::Method> rows_;
};

// A single node that owns everything.
class Node {
 public:
  explicit Node(const Rows& rows)
      : server_(network, {.keepalive = {.interval = 1min}, .random_seed = 1}),
        shard_(store_, 7, {}, rows.type()) {
    check(server_.add(shard_.service()).has_value(), "the counters can be added");
    check(server_.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value() &&
              server_.listen({"server", 2}, {.door = rpc::Door::clients}).has_value(),
          "the server listens");
  }
  ~Node() { static_cast<void>(server_.stop(Deadline::passed())); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  sim::SimulatedNetwork network;

 private:
  framework::MemoryStore store_;
  rpc::Server server_;
  test::CounterShard shard_;
};

std::vector<std::byte> request_with(Bytes extension, std::uint64_t method_id) {
  const auto size = static_cast<std::uint32_t>(extension.size());
  std::vector<std::byte> flow(2 * rpc::frame_header_size);
  using Header = std::span<std::byte, rpc::frame_header_size>;
  rpc::encode({.call_id = rpc::hello_magic, .method_id = rpc::protocol_version},
              Header(flow.data(), rpc::frame_header_size));
  rpc::encode({.payload_size = size,
               .type = rpc::FrameType::request,
               .call_id = 1,
               .method_id = method_id,
               .time = 1'000'000,
               .extension_size = size},
              Header(flow.data() + rpc::frame_header_size, rpc::frame_header_size));
  flow.insert(flow.end(), extension.begin(), extension.end());
  return flow;
}

void say(net::Network& network, std::uint16_t port, Bytes flow) {
  const auto stream = network.connect({"server", port}, Deadline::after(1s));
  check(stream.has_value(), "the peer can connect");
  check((*stream)->write_all(flow, Deadline::after(1s)).has_value(), "and speak");
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto count = (*stream)->read_some(buffer, Deadline::after(5s));
    if (!count || *count == 0) break;
  }
  (*stream)->close();
}

void check_good_client(net::Network& network) {
  const auto client = rpc::Client::connect(network, {"server", 2}, Deadline::after(1s));
  check(client.has_value(), "a good client is admitted");
  const rpc::ObjectTarget target{.id = "still here"};
  test::CounterReply reply;
  const auto methods = Counter::object_type().methods;
  const auto get = std::ranges::find(methods, std::string_view("corolane.test.Counter/Get"),
                                     &rpc::Method::full_name);
  const auto called = (*client)->call(*get, test::GetRequest(), reply, {.object = &target});
  check(called.has_value(), "and served");
}

}  // namespace

void run(Input input) {
  // One for all inputs: creating it costs more than most of them.
  static coroutine::VirtualTime time;
  static coroutine::Scheduler scheduler(time);
  static const std::array<Rows, 2> rows{Rows(16 * 1024), Rows(64 * 1024)};
  const std::uint8_t choice = input.take_byte();
  const Bytes extension = input.rest().first(std::min(input.rest().size(), extension_bytes_max));
  const auto ran = scheduler.run("fuzz", [&] {
    Node node(rows[choice & 1U]);
    const auto methods = Counter::object_type().methods;
    const std::uint64_t method_id = methods[(choice >> 2U) % methods.size()].id;
    say(node.network, (choice & 2U) != 0 ? 1 : 2, request_with(extension, method_id));
    check_good_client(node.network);
  });
  check(ran.has_value(), "the task runs");
}

}  // namespace corolane::fuzz
