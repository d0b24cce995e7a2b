// SPDX-License-Identifier: MIT
// The opening handshake of WebSockets, on both ends, and with foreign peers.
#include "net/websocket/websocket_upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "net/testing/network.h"
#include "net/uv/uv_worker_pool.h"
#include "test/net/stream_pair.h"
#include "test/net/websocket/websocket_frames.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::AllOf;
using testing::HasSubstr;

HttpRequest good_request() {
  return {.target = "/play",
          .headers = {{"Host", "server"},
                      {"Upgrade", "WebSocket"},
                      {"Connection", "keep-alive, Upgrade"},
                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                      {"Sec-WebSocket-Version", "13"}}};
}

void set_header(HttpRequest& request, const std::string& name, const std::string& value) {
  HttpHeaders changed;
  for (const auto& [known_name, known_value] : request.headers) {
    changed.add(known_name, known_name == name ? value : known_value);
  }
  request.headers = changed;
}

TEST(WebSocketUpgradeTest, TheExampleOfTheStandardIsAnswered) {
  const auto answer = answer_websocket(good_request());
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->text, AllOf(HasSubstr("HTTP/1.1 101 "),
                                  HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")));
  EXPECT_EQ(answer->protocol, "");
}

TEST(WebSocketUpgradeTest, TheServersPreferenceOfProtocolsDecides) {
  HttpRequest request = good_request();
  request.headers.add("Sec-WebSocket-Protocol", "json, chess");
  const auto answer = answer_websocket(request, {.protocols = {"chess", "json"}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->protocol, "chess");
  EXPECT_THAT(answer->text, HasSubstr("Sec-WebSocket-Protocol: chess\r\n"));
  EXPECT_EQ(answer_websocket(request, {.protocols = {"other"}})->protocol, "");
}

TEST(WebSocketUpgradeTest, AWrongRequestIsRefusedWithTheMatchingStatus) {
  const auto status_of = [](const HttpRequest& request, WebSocketUpgradeOptions options = {}) {
    const auto answer = answer_websocket(request, options);
    return answer ? 101 : answer.error().status;
  };
  EXPECT_EQ(status_of({}), 400u);
  HttpRequest request = good_request();
  request.method = "POST";
  EXPECT_EQ(status_of(request), 400u);
  request = good_request();
  set_header(request, "Sec-WebSocket-Version", "8");
  EXPECT_EQ(status_of(request), 426u);
  request = good_request();
  set_header(request, "Sec-WebSocket-Key", "short");
  EXPECT_EQ(status_of(request), 400u);
  request = good_request();
  request.headers.add("Origin", "https://evil.example");
  EXPECT_EQ(status_of(request), 403u);
  EXPECT_EQ(status_of(request, {.origins = {"https://game.example"}}), 403u);
  EXPECT_EQ(status_of(request, {.origins = {"https://game.example", "https://evil.example"}}),
            101u);
  EXPECT_EQ(status_of(request, {.origins = {"*"}}), 101u);
  request = good_request();
  request.headers.add("Origin", "https://server");
  EXPECT_EQ(status_of(request), 403u) << "any page may claim to be at this name";
  for (const char* const host : {"127.0.0.1:8460", "[::1]:8460", "localhost", "LOCALHOST:1"}) {
    request = good_request();
    set_header(request, "Host", host);
    request.headers.add("Origin", std::string("http://") + host);
    EXPECT_EQ(status_of(request), 101u) << host;
  }
  EXPECT_EQ(status_of(good_request(), {.origins = {"https://game.example"}}), 101u);
}

struct UpgradeWorld {
  UpgradeWorld() : listener(*network.listen({.address = "server", .port = 1})) {}

  // Accepts one client and echoes each message, until the end.
  Result<void> echo(WebSocketUpgradeOptions options = {}) {
    auto stream = listener->accept(soon());
    if (!stream) return stream.error();
    auto socket = accept_websocket(*std::move(stream), soon(), options);
    if (!socket) return socket.error();
    for (;;) {
      auto message = (*socket)->read_message(soon());
      if (!message) return message.error();
      auto sent = (*socket)->write_message(message->kind, message->payload, soon());
      if (!sent) return sent;
    }
  }
  // Answers one client with that text.
  Result<void> answer(std::string_view text) {
    auto stream = listener->accept(soon());
    if (!stream) return stream.error();
    if (auto asked = read_text(**stream); !asked) return asked.error();
    if (auto sent = send_text(**stream, text); !sent) return sent;
    (*stream)->finish_writing();
    return coroutine::sleep_for(10ms);
  }

  sim::SimulatedNetwork network;
  std::unique_ptr<Listener> listener;
};

TEST(WebSocketUpgradeTest, OurClientAndOurServerUnderstandEachOther) {
  UpgradeWorld world;
  auto server = coroutine::spawn("server", [&] { return world.echo({.protocols = {"chess"}}); });
  auto socket = connect_websocket(world.network, {"server", 1}, "/play?seat=white", soon(),
                                  {.protocols = {"go", "chess"}});
  ASSERT_TRUE(socket) << socket;
  EXPECT_TRUE((*socket)->write_message(MessageKind::text, "e4", soon()));
  EXPECT_EQ((*socket)->read_message(soon())->payload, "e4");
  (*socket)->close();
  EXPECT_THAT(server.join(Deadline::never()), fails_with(Code::unavailable));
}

TEST(WebSocketUpgradeTest, FramesThatComeWithTheAnswerAreNotLost) {
  UpgradeWorld world;
  auto server = coroutine::spawn("server", [&]() -> Result<void> {
    auto stream = world.listener->accept(soon());
    if (!stream) return stream.error();
    auto text = read_text(**stream);
    if (!text) return text.error();
    const std::size_t key_at = text->find("Sec-WebSocket-Key: ") + 19;
    HttpRequest request = good_request();
    set_header(request, "Sec-WebSocket-Key", text->substr(key_at, 24));
    if (auto sent =
            send_text(**stream, answer_websocket(request)->text + bare_frame(0x81, "welcome"));
        !sent) {
      return sent;
    }
    return coroutine::sleep_for(1s);
  });
  auto socket = connect_websocket(world.network, {"server", 1}, "/", soon());
  ASSERT_TRUE(socket) << socket;
  EXPECT_EQ((*socket)->read_message(soon())->payload, "welcome");
  EXPECT_TRUE(server.join(Deadline::never()));
}

TEST(WebSocketUpgradeTest, AClientThatAsksForSomethingElseGetsA400) {
  UpgradeWorld world;
  auto server = coroutine::spawn("server", [&] { return world.echo(); });
  auto stream = world.network.connect({.address = "server", .port = 1}, soon());
  ASSERT_TRUE(stream);
  EXPECT_TRUE(send_text(**stream, "GET / HTTP/1.1\r\nHost: server\r\n\r\n"));
  EXPECT_THAT(read_text(**stream).value_or(""),
              AllOf(HasSubstr("HTTP/1.1 400 "), HasSubstr("this is a WebSocket")));
  EXPECT_THAT(server.join(Deadline::never()), fails_with(Code::invalid_argument));
}

TEST(WebSocketUpgradeTest, AServerThatAnswersOtherwiseIsRefused) {
  const std::string good =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  for (const auto& [text, what] : {
           std::pair<std::string, std::string>{"HTTP/1.1 404 Not Found\r\n\r\n", "with status 404"},
           {"SSH-2.0\r\n\r\n", "with something other than HTTP/1.1"},
           {"HTTP/1.1 1x1 \r\n\r\n", "without a status"},
           {"HTTP/1.1 101\r\nnonsense\r\n\r\n", "a header without a colon"},
           {"HTTP/1.1 101\r\n\r\n", "101, but not to a WebSocket"},
           {good + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
            "with the wrong key"},
           {"HTTP/1.1 101", "nothing and closed"},
           {std::string(20'000, 'x'), "more headers than fit"},
       }) {
    UpgradeWorld world;
    auto server = coroutine::spawn("server", [&] { return world.answer(text); });
    const auto socket = connect_websocket(world.network, {"server", 1}, "/", soon());
    ASSERT_THAT(socket, fails_with(Code::unavailable)) << what;
    EXPECT_THAT(socket.error().message(), HasSubstr(what));
    EXPECT_TRUE(server.join(Deadline::never()));
  }
}

TEST(WebSocketUpgradeTest, ARequestThatHttpCannotCarryIsNotSent) {
  sim::SimulatedNetwork network;
  for (const char* const target : {"play", "/a b", "/\r\nX: y"}) {
    EXPECT_THAT(connect_websocket(network, {"server", 1}, target, soon()),
                fails_with(Code::invalid_argument));
  }
  EXPECT_THAT(
      connect_websocket(network, {"server", 1}, "/", soon(), {.headers = {{"A", "b\r\nc"}}}),
      fails_with(Code::invalid_argument));
}

// A Python script with Debian's python3-websockets, for either end. read_line() returns its output.
constexpr const char* python = "/usr/bin/python3";

std::string missing_python_websockets() {
  const int status = std::system("/usr/bin/python3 -c 'import websockets' > /dev/null 2>&1");
  return status == 0 ? "" : "python3-websockets is missing; tools/setup --tests installs it";
}

class Script {
 public:
  Script(RealLoop& real, const std::string& code)
      : pool_(real.loop),
        pipe_(
            ::popen((std::string("timeout 30 ") + python + " -c '" + code + "' 2>&1").c_str(), "r"),
            &::pclose) {}

  // Suspends.
  std::string read_line() {
    auto read = run_blocking(
        pool_,
        [pipe = pipe_] {
          std::array<char, 4096> line{};
          return std::string(std::fgets(line.data(), line.size(), pipe.get()) ? line.data() : "");
        },
        soon());
    return read.value_or("no answer in time");
  }

 private:
  UvWorkerPool pool_;
  std::shared_ptr<std::FILE> pipe_;
};

TEST(WebSocketUpgradeTest, PythonConnectsAsAClient) {
  COROLANE_NEEDS(missing_python_websockets());
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener);
    Script client(real, R"(
import asyncio, websockets
async def main():
  address = "ws://)" + to_string((*listener)->local_endpoint()) +
                            R"(/play"
  async with websockets.connect(address, compression=None, subprotocols=["chess"]) as socket:
    for size in (0, 1, 125, 126, 65535, 65536, 100000):
      await socket.send(b"x" * size)
      assert await socket.recv() == b"x" * size, size
    await socket.send(["frag", "men", "ts \u2654"])
    print(await socket.recv(), socket.subprotocol, flush=True)
    await (await socket.ping())
    await socket.close(4000, "bye")
    print(socket.close_code, flush=True)
asyncio.run(main())
)");
    auto stream = (*listener)->accept(soon());
    ASSERT_TRUE(stream) << stream;
    auto socket =
        accept_websocket(*std::move(stream), soon(),
                         {.protocols = {"chess"}, .websocket = {.message_bytes_max = 200'000}});
    ASSERT_TRUE(socket) << socket;
    for (;;) {
      auto message = (*socket)->read_message(soon());
      if (!message) break;
      EXPECT_TRUE((*socket)->write_message(message->kind, message->payload, soon()));
    }
    ASSERT_TRUE((*socket)->peer_close());
    EXPECT_EQ((*socket)->peer_close()->reason, "bye");
    EXPECT_EQ(client.read_line(), "fragments \u2654 chess\n");
    EXPECT_EQ(client.read_line(), "4000\n");
  });
}

// The loop that every server writes, which does not mention closing. At "bye" our side ends it.
void echo_until_bye(std::unique_ptr<Stream> stream) {
  auto socket = accept_websocket(std::move(stream), soon());
  if (!socket) return;
  while (auto message = (*socket)->read_message(soon())) {
    const auto sent = (*socket)->write_message(message->kind, message->payload, soon());
    if (!sent || message->payload == "bye") return;
  }
}

TEST(WebSocketUpgradeTest, PythonSeesEveryLoopEndWithACloseFrame) {
  COROLANE_NEEDS(missing_python_websockets());
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener);
    coroutine::TaskGroup tasks;
    ASSERT_TRUE(tasks.spawn("accept", [&] {
      while (auto stream = (*listener)->accept(Deadline::never())) {
        auto shared = std::make_shared<std::unique_ptr<Stream>>(*std::move(stream));
        ASSERT_TRUE(tasks.spawn("echo", [shared] { echo_until_bye(std::move(*shared)); }));
      }
    }));
    Script client(real, R"(
import asyncio, websockets
address = "ws://)" + to_string((*listener)->local_endpoint()) +
                            R"(/"
async def talk(count, size, code, says_bye):
  socket = await websockets.connect(address, compression=None)
  for number in range(count):
    await socket.send(str(number).ljust(size))
  if says_bye:
    await socket.send("bye")
  else:
    closing = asyncio.create_task(socket.close(code, "done"))
  received = []
  try:
    while True:
      received.append((await socket.recv()).strip())
  except websockets.ConnectionClosed as closed:
    assert closed.rcvd is not None and closed.rcvd.code == code, closed
  expected = [str(number) for number in range(count)] + (["bye"] if says_bye else [])
  assert received == expected, (len(received), len(expected))
  if not says_bye:
    await closing
async def main():
  for count, size in ((0, 0), (1, 10), (10, 100), (30, 5000)):
    await talk(count, size, 4001, False)
    await talk(count, size, 1001, True)
  await asyncio.gather(*(talk(3, 10, 4000 + number, False) for number in range(50)))
  print("all clean", flush=True)
asyncio.run(main())
)");
    std::string said;
    for (std::string line = " "; !line.empty(); said += line) line = client.read_line();
    EXPECT_EQ(said, "all clean\n");
    tasks.cancel_and_join();
  });
}

TEST(WebSocketUpgradeTest, PythonServesAsAServer) {
  COROLANE_NEEDS(missing_python_websockets());
  run_on_real_loop([](RealLoop& real) {
    Script server(real, R"(
import asyncio, websockets
async def main():
  ended = asyncio.Event()
  async def echo(socket):
    async for message in socket:
      await socket.send(message)
    ended.set()
  async with websockets.serve(echo, "127.0.0.1", 0) as server:
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
asyncio.run(main())
)");
    const auto port = static_cast<std::uint16_t>(std::atoi(server.read_line().c_str()));
    auto socket = connect_websocket(real.network, {"127.0.0.1", port}, "/", soon());
    ASSERT_TRUE(socket) << socket;
    for (const std::size_t size : {0u, 1u, 125u, 126u, 60'000u}) {
      const std::string text(size, 'y');
      EXPECT_TRUE((*socket)->write_message(MessageKind::text, text, soon()));
      auto answer = (*socket)->read_message(soon());
      ASSERT_TRUE(answer) << answer;
      EXPECT_EQ(answer->payload, text);
    }
    (*socket)->close(1000, "enough");
    EXPECT_THAT((*socket)->read_message(soon()), fails_with(Code::unavailable));
    EXPECT_EQ((*socket)->peer_close()->code, 1000);
  });
}

TEST(WebSocketUpgradeTest, PythonAndOurServerCompress) {
  COROLANE_NEEDS(missing_python_websockets());
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener);
    Script client(real, R"(
import asyncio, websockets
async def main():
  address = "ws://)" + to_string((*listener)->local_endpoint()) +
                            R"(/"
  async with websockets.connect(address, compression="deflate") as socket:
    for size in (0, 1, 1024, 60000):
      for text in ("x" * size, "x" * size):
        await socket.send(text)
        assert await socket.recv() == text, size
    await socket.send(["frag", "men", "ts \u2654"])
    print(await socket.recv(), [str(extension) for extension in socket.extensions], flush=True)
asyncio.run(main())
)");
    auto stream = (*listener)->accept(soon());
    ASSERT_TRUE(stream) << stream;
    auto socket = accept_websocket(*std::move(stream), soon(), {.deflates = true});
    ASSERT_TRUE(socket) << socket;
    EXPECT_TRUE((*socket)->deflate());
    while (auto message = (*socket)->read_message(soon())) {
      EXPECT_TRUE((*socket)->write_message(message->kind, message->payload, soon()));
    }
    EXPECT_EQ(client.read_line(),
              "fragments \u2654 ['PerMessageDeflate(remote_no_context_takeover=True, "
              "local_no_context_takeover=True, remote_max_window_bits=15, "
              "local_max_window_bits=15)']\n");
  });
}

TEST(WebSocketUpgradeTest, OurClientCompressesWithAPythonServer) {
  COROLANE_NEEDS(missing_python_websockets());
  run_on_real_loop([](RealLoop& real) {
    Script server(real, R"(
import asyncio, websockets
async def main():
  ended = asyncio.Event()
  async def echo(socket):
    async for message in socket:
      await socket.send(message)
    ended.set()
  async with websockets.serve(echo, "127.0.0.1", 0, compression="deflate") as server:
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
asyncio.run(main())
)");
    const auto port = static_cast<std::uint16_t>(std::atoi(server.read_line().c_str()));
    auto socket =
        connect_websocket(real.network, {"127.0.0.1", port}, "/", soon(), {.deflates = true});
    ASSERT_TRUE(socket) << socket;
    EXPECT_TRUE((*socket)->deflate());
    for (const std::size_t size : {0u, 1u, 1'024u, 60'000u, 60'000u}) {
      const std::string text(size, 'y');
      EXPECT_TRUE((*socket)->write_message(MessageKind::text, text, soon()));
      auto answer = (*socket)->read_message(soon());
      ASSERT_TRUE(answer) << answer;
      EXPECT_EQ(answer->payload, text);
    }
    (*socket)->close();
    EXPECT_THAT((*socket)->read_message(soon()), fails_with(Code::unavailable));
    EXPECT_EQ(server.read_line(), "");  // It ends.
  });
}

}  // namespace
}  // namespace corolane::net
