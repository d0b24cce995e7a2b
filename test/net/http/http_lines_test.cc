// SPDX-License-Identifier: MIT
#include "net/http/http_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "test/net/http/scripted_server.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::soon;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char* last_chunk = "0\r\n\r\n";

// Sleeps for `time`, or less in a cancelled task.
void let_pass(Duration time) { static_cast<void>(coroutine::sleep_for(time)); }

std::string chunk(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  check(text.size() < 256, "the length of a test's chunk has two digits");
  return {digits[text.size() / 16], digits[text.size() % 16], '\r', '\n'};
}

void say_chunk(Stream& stream, std::string_view text) {
  say(stream, chunk(text).append(text).append("\r\n"));
}

class HttpLinesTest : public testing::Test {
 protected:
  // A server that reads a request, calls `answer`, and then closes.
  void serve(std::function<void(Stream&)> answer) {
    server_.emplace(network_, [answer](Stream& stream, std::size_t) {
      read_request(stream);
      answer(stream);
    });
  }
  // The same for a server that answers with this text.
  void serve_text(std::string text) {
    serve([text](Stream& stream) { say(stream, text); });
  }

  HttpLines open(const HttpOptions& options = {}) {
    auto lines =
        HttpLines::open(network_, ScriptedServer::host(), {.target = "/watch"}, soon(), options);
    check(lines.has_value(), "the server answers");
    return *std::move(lines);
  }

  // All lines, and the code of the error after the last.
  std::vector<std::string> read_all_lines(HttpLines& lines) {
    std::vector<std::string> all;
    for (;;) {
      const auto line = lines.next_line(soon());
      if (!line) {
        all.emplace_back(to_string(line.error().code()));
        return all;
      }
      all.emplace_back(*line);
    }
  }

  sim::SimulatedNetwork network_;
  std::optional<ScriptedServer> server_;
};

TEST_F(HttpLinesTest, LinesArriveAsTheyAreSent) {
  serve([](Stream& stream) {
    say(stream, chunked);
    for (const char* text : {"one\n", "two\n"}) {
      let_pass(1h);
      say_chunk(stream, text);
    }
    say(stream, last_chunk);
  });
  HttpLines lines = open();
  EXPECT_EQ(lines.head().status, 200u);
  const TimePoint start = now();
  EXPECT_EQ(lines.next_line(Deadline::never()), "one");
  EXPECT_EQ(now() - start, 1h);
  EXPECT_EQ(lines.next_line(Deadline::never()), "two");
  EXPECT_EQ(now() - start, 2h);
  EXPECT_THAT(lines.next_line(soon()), fails_with(Code::out_of_range));
  EXPECT_THAT(lines.next_line(soon()), fails_with(Code::out_of_range));
}

TEST_F(HttpLinesTest, ChunksAndPiecesNeedNotMatchLines) {
  for (const std::size_t piece : {1u, 2u, 7u, 1000u}) {
    sim::SimulatedNetwork network({.piece_bytes_max = piece});
    ScriptedServer server(network, [](Stream& stream, std::size_t) {
      read_request(stream);
      say(stream, chunked);
      for (const char* text : {"a", "b\nc\n", "\n", "d\r", "\n\r\ne", "f"}) say_chunk(stream, text);
      say(stream, last_chunk);
    });
    auto lines = HttpLines::open(network, ScriptedServer::host(), {}, soon());
    ASSERT_TRUE(lines) << lines;
    EXPECT_THAT(read_all_lines(*lines), ElementsAre("ab", "c", "", "d", "", "ef", "out_of_range"));
  }
}

TEST_F(HttpLinesTest, BodiesWithoutChunksHaveLinesToo) {
  for (const char* text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na\nb\nc", "HTTP/1.0 200 OK\r\n\r\na\nb\nc"}) {
    serve_text(text);
    HttpLines lines = open();
    EXPECT_THAT(read_all_lines(lines), ElementsAre("a", "b", "c", "out_of_range"));
    server_.reset();
  }
}

TEST_F(HttpLinesTest, AFailureStatusExplainsItselfInItsLines) {
  serve_text(
      "HTTP/1.1 401 Unauthorized\r\nX-Why: so\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\n\r\n{}");
  HttpLines lines = open();
  EXPECT_EQ(lines.head().status, 401u);
  EXPECT_EQ(lines.head().content_type, "application/json");
  EXPECT_EQ(lines.head().headers.find("x-why"), "so");
  EXPECT_EQ(lines.head().body, "");
  EXPECT_EQ(lines.next_line(soon()), "{}");
}

TEST_F(HttpLinesTest, ALineIsBoundedButTheirTotalIsNot) {
  serve([](Stream& stream) {
    say(stream, chunked);
    for (int round = 0; round < 100; ++round) say_chunk(stream, "0123456789\n");
    say_chunk(stream, "0123456789a\n");
  });
  HttpLines lines = open({.body_bytes_max = 10});
  for (int round = 0; round < 100; ++round) EXPECT_EQ(lines.next_line(soon()), "0123456789");
  EXPECT_THAT(lines.next_line(soon()), fails_with(Code::resource_exhausted));
  EXPECT_THAT(lines.next_line(soon()), fails_with(Code::resource_exhausted));
}

TEST_F(HttpLinesTest, ALineWithoutAnEndIsBoundedToo) {
  serve([](Stream& stream) {
    say(stream, chunked);
    while (!stream.is_closed()) {
      say_chunk(stream, "0123456789");
      let_pass(1ms);
    }
  });
  HttpLines lines = open({.body_bytes_max = 1000});
  EXPECT_THAT(lines.next_line(soon()), fails_with(Code::resource_exhausted));
  network_.reset_all();
}

TEST_F(HttpLinesTest, ADeadlineInsideALineLosesNothing) {
  serve([](Stream& stream) {
    say(stream, chunked);
    say_chunk(stream, "half ");
    let_pass(1s);
    say_chunk(stream, "and half\n");
    read_request(stream);
  });
  HttpLines lines = open();
  EXPECT_THAT(lines.next_line(Deadline::after(100ms)), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(lines.next_line(Deadline::after(100ms)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(lines.next_line(soon()), "half and half");
}

TEST_F(HttpLinesTest, CancellationEndsTheWait) {
  serve([](Stream& stream) {
    say(stream, chunked);
    read_request(stream);
  });
  auto reader = coroutine::spawn("reader", [&]() -> Result<void> {
    HttpLines lines = open();
    auto line = lines.next_line(Deadline::never());
    return line.error();
  });
  let_pass(1s);
  reader.cancel();
  EXPECT_THAT(reader.join(Deadline::never()), fails_with(Code::cancelled));
}

TEST_F(HttpLinesTest, ABrokenConnectionIsNotTheEndOfTheBody) {
  serve([](Stream& stream) {
    say(stream, chunked);
    say_chunk(stream, "one\ntw");
  });
  HttpLines lines = open();
  EXPECT_THAT(read_all_lines(lines), ElementsAre("one", "unavailable"));
}

TEST_F(HttpLinesTest, ARequestToAMissingServerWasNotSent) {
  const auto lines = HttpLines::open(network_, ScriptedServer::host(), {}, soon());
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code(), Code::unavailable);
  EXPECT_FALSE(lines.error().maybe_executed());
}

TEST_F(HttpLinesTest, ARequestWithoutAnAnswerIsMarkedMaybeExecuted) {
  serve([](Stream& stream) { read_request(stream); });
  const auto lines =
      HttpLines::open(network_, ScriptedServer::host(), {.target = "/watch"}, Deadline::after(1s));
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code(), Code::deadline_exceeded);
  EXPECT_TRUE(lines.error().maybe_executed());
  EXPECT_THAT(lines.error().message(), HasSubstr("GET /watch at server"));
}

}  // namespace
}  // namespace corolane::net
