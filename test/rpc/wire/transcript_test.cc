// SPDX-License-Identifier: MIT
// What a client of version 1 sends and what the server must answer: test/data/protocol/README.md.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/crypto.h"
#include "rpc/http/json.h"
#include "rpc/push_source.h"
#include "rpc/server/server.h"
#include "rpc/session.h"
#include "rpc/stream.h"
#include "rpc/wire/frame.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/talk.corolane.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using rpc::FrameHeader;
using rpc::FrameType;

constexpr std::array<const char*, 17> frame_type_names = {
    "",     "hello", "request", "reply", "cancel", "bye",      "auth",     "item",    "window",
    "ping", "pong",  "go_away", "end",   "push",   "push_gap", "push_ack", "unfollow"};

struct Transcript {
  std::string name;
  json server;
  json steps;
  std::string ends;
};

std::vector<Transcript> read_transcripts() {
  std::vector<Transcript> all;
  for (const char* const file : {"hello", "versions", "call", "error", "stream", "request_stream",
                                 "cancel", "ping", "go_away", "too_large", "session", "auth"}) {
    const std::string path = "test/data/protocol/" + std::string(file) + ".json";
    std::ifstream input(path);
    check(input.is_open(), "the tests run in the folder of the project");
    const json content = json::parse(input);
    for (const json& one : content["transcripts"]) {
      all.push_back({.name = path + ", \"" + one["name"].get<std::string>() + "\"",
                     .server = one["server"],
                     .steps = one["steps"],
                     .ends = one["ends"].get<std::string>()});
    }
  }
  return all;
}

template <typename T>
T number_of(std::string_view digits, int base) {
  T number{};
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  check(problem == std::errc() && end == digits.data() + digits.size(), "a number");
  return number;
}

// "0a 78*40" is a line break and 40 times the letter x.
std::string from_transcript_hex(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t star = word.find('*');
    const std::size_t times =
        star == std::string_view::npos ? 1 : number_of<std::size_t>(word.substr(star + 1), 10);
    std::string group;
    for (std::size_t at = 0; at + 1 < std::min(star, word.size()); at += 2) {
      group += static_cast<char>(number_of<unsigned char>(word.substr(at, 2), 16));
    }
    for (std::size_t i = 0; i < times; ++i) bytes += group;
  }
  return bytes;
}

// The first bytes as a transcript has them.
std::string to_transcript_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::array<std::size_t, 9> group_ends = {4, 5, 6, 7, 8, 16, 24, 28, 32};
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 500); ++i) {
    if (std::ranges::find(group_ends, i) != group_ends.end()) text += ' ';
    text += digits[static_cast<unsigned char>(bytes[i]) >> 4];
    text += digits[static_cast<unsigned char>(bytes[i]) & 15];
  }
  return text;
}

std::unique_ptr<google::protobuf::Message> new_message(const std::string& type) {
  const auto* const descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  check(descriptor != nullptr, "the type of a message is known");
  return std::unique_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
}

// The bytes of an extension or a message.
std::string content_of(const json& step, const char* part) {
  if (!step.contains(part)) return "";
  const json& content = step[part];
  if (content.contains("text")) return content["text"].get<std::string>();
  if (content.contains("bytes")) return from_transcript_hex(content["bytes"].get<std::string>());
  const auto message = new_message(content["type"].get<std::string>());
  const auto read = rpc::JsonReader().read(content["fields"].dump(), *message);
  EXPECT_TRUE(read) << read.error();
  return message->SerializeAsString();
}

FrameHeader header_of(const json& step) {
  const json& fields = step["header"];
  FrameHeader header;
  header.payload_size = fields["payload_size"].get<std::uint32_t>();
  if (fields["type"].is_number()) {
    header.type = FrameType{fields["type"].get<std::uint8_t>()};
  } else {
    const auto* const found = std::ranges::find(frame_type_names, fields["type"]);
    check(found != frame_type_names.end(), "the type of a frame is known");
    header.type = static_cast<FrameType>(found - frame_type_names.begin());
  }
  const auto code = fields["code"].get<std::string>();
  while (header.code != 0 || code != "ok") {
    if (to_string(code_from_number(++header.code)) == code) break;
    check(header.code < 16, "the name of a code is known");
  }
  for (const json& flag : fields["flags"]) {
    header.maybe_executed = header.maybe_executed || flag == "maybe_executed";
    header.not_executed = header.not_executed || flag == "not_executed";
    header.is_from_handler = header.is_from_handler || flag == "from_handler";
    check(flag == "maybe_executed" || flag == "not_executed" || flag == "from_handler",
          "a flag is known");
  }
  header.call_id = number_of<std::uint64_t>(fields["call_id"].get<std::string>().substr(2), 16);
  header.method_id = number_of<std::uint64_t>(fields["method_id"].get<std::string>().substr(2), 16);
  header.time = fields["time"].get<std::uint32_t>();
  header.extension_size = fields["extension_size"].get<std::uint32_t>();
  return header;
}

std::string frame_of(const json& step) {
  std::array<std::byte, rpc::frame_header_size> header;
  rpc::encode(header_of(step), header);
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) +
         content_of(step, "extension") + content_of(step, "message");
}

// The decoded fields are all that the message has.
void expect_fields(const json& content, std::string_view bytes) {
  if (!content.contains("fields")) return;
  const auto message = new_message(content["type"].get<std::string>());
  ASSERT_TRUE(message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  std::string written;
  ASSERT_TRUE(rpc::JsonWriter().write(*message, written));
  EXPECT_EQ(json::parse(written), content["fields"]);
}

class TranscriptTalk final : public TalkBase {
  Result<Number> sum(rpc::Requests<Number>& in, rpc::Context&) override {
    Number sum;
    for (Number added; in.read(added);) {
      if (added.value() < 0) return sum;
      sum.set_value(sum.value() + added.value());
    }
    if (auto ended = in.finish(); !ended) return ended.error();
    return sum;
  }
  Result<void> twice(rpc::Requests<Number>& in, rpc::Writer<Number>& out, rpc::Context&) override {
    for (Number asked; in.read(asked);) {
      asked.set_value(2 * asked.value());
      if (auto written = out.write(asked); !written) return written;
    }
    return in.finish();
  }
};

// What is said in a group; null is lost.
struct Said {
  std::deque<rpc::News> news;
  std::function<void()> note;

  void add(rpc::News next) {
    news.push_back(std::move(next));
    if (note != nullptr) std::exchange(note, nullptr)();
  }
};

class SaidSource final : public rpc::PushSource {
 public:
  explicit SaidSource(Said& said) : said_(said) {}
  Result<std::optional<rpc::News>> poll() override {
    if (said_.news.empty()) return std::optional<rpc::News>();
    rpc::News next = std::move(said_.news.front());
    said_.news.pop_front();
    return std::optional(std::move(next));
  }
  void when_readable(std::function<void()> note) override {
    said_.note = std::move(note);
    if (!said_.news.empty()) std::exchange(said_.note, nullptr)();
  }
  std::string record() const override { return {}; }

 private:
  Said& said_;
};

// Plays one transcript against a server of its own.
class Replay {
 public:
  explicit Replay(const Transcript& transcript) : transcript_(transcript) {
    constexpr auto everybody = rpc::Server::Audience::everybody;
    check(server_.add(echo_, everybody) && server_.add(talk_, everybody), "they can be added");
    const json& setup = transcript.server;
    rpc::Server::ListenOptions options{
        .request_bytes_max = setup["request_bytes_max"].get<std::size_t>(),
        .security = {.cluster = setup.value("cluster", ""),
                     .shared_key = setup.value("shared_key", "")},
        .door = setup.contains("shared_key") ? rpc::Door::nodes : rpc::Door::clients};
    if (setup.value("login", false)) {
      options.login = [](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
        if (token == "a valid token") return rpc::Principal{.id = "player-17"};
        return Error(Code::unauthenticated, "the token is not valid");
      };
    }
    server_.add_filter([this](rpc::Context& call, const rpc::Next& next) {
      session_ = call.session();
      return next();
    });
    check(server_.listen({"server", 1}, options).has_value(), "the server listens");
    stream_ = network_.connect({"server", 1}, Deadline::after(1s)).value();
  }

  void play() {
    for (const json& step : transcript_.steps) {
      const std::string does = step.value("does", "");
      if (does == "reconnect") {
        stream_ = network_.connect({"server", 1}, Deadline::after(1s)).value();
      } else if (does.starts_with("push ")) {
        ASSERT_TRUE(session_->push(make_echo(does.substr(5))));
      } else if (does == "follow") {
        ASSERT_TRUE(session_->follow(std::make_unique<SaidSource>(said_)));
      } else if (does.starts_with("say ")) {
        said_.add(rpc::News::of(make_echo(does.substr(4))));
      } else if (does == "lose") {
        said_.add({});
      } else if (does == "stop") {
        stop_ = coroutine::spawn("stop", [this] { return server_.stop(Deadline::after(5s)); });
      } else if (step["from"] == "client") {
        send(with_secret(frame_of(step), step));
      } else {
        std::string expected = frame_of(step);
        const std::string received = receive(expected.size());
        learn_secret(expected, received, step);
        expected = with_secret(std::move(expected), step);
        ASSERT_EQ(to_transcript_hex(received), to_transcript_hex(expected)) << step;
        ASSERT_EQ(received, expected) << step;
      }
    }
    const std::string more = receive(1, 1s);
    EXPECT_EQ(to_transcript_hex(more), "") << "a frame that the transcript does not have";
    EXPECT_EQ(is_closed_, transcript_.ends == "closed");
  }

  void send(std::string_view bytes) {
    ASSERT_TRUE(stream_->try_write(net::bytes_of(bytes)));
    ASSERT_TRUE(coroutine::sleep_for(1ms));  // Not everything in one piece.
  }

  // The next bytes; fewer when the server closes, or sends none for that long.
  std::string receive(std::size_t size, Duration patience = 15s) {
    std::string bytes;
    std::array<std::byte, 4096> buffer;
    while (bytes.size() < size) {
      const auto room = std::span(buffer).first(std::min(buffer.size(), size - bytes.size()));
      const auto count = stream_->read_some(room, Deadline::after(patience));
      is_closed_ = count ? *count == 0 : count.error().code() != Code::deadline_exceeded;
      if (!count || *count == 0) break;
      bytes += net::text_of(std::span(room).first(*count));
    }
    return bytes;
  }

 private:
  // The secret of a session is random: each transcript has one, in whose place the real one goes.
  static std::size_t place_of_secret(const std::string& frame, const json& step) {
    if (!step.contains("message") || !step["message"].contains("fields")) return std::string::npos;
    if (!step["message"]["fields"].contains("session")) return std::string::npos;
    return frame.find(secret_in_transcripts);
  }
  void learn_secret(const std::string& expected, const std::string& received, const json& step) {
    const std::size_t place = place_of_secret(expected, step);
    if (place != std::string::npos) secret_ = received.substr(place, secret_in_transcripts.size());
  }
  std::string with_secret(std::string frame, const json& step) const {
    const std::size_t place = place_of_secret(frame, step);
    if (place != std::string::npos) frame.replace(place, secret_.size(), secret_);
    return frame;
  }

  static constexpr std::string_view secret_in_transcripts =
      "\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae\xaf";
  const Transcript& transcript_;
  std::string secret_ = std::string(secret_in_transcripts);
  std::shared_ptr<rpc::Session> session_;
  sim::SimulatedNetwork network_;
  EchoService echo_;
  Said said_;
  TranscriptTalk talk_;
  rpc::Server server_{network_,
                      {.sessions = {.ring_count_max = transcript_.server.value("ring_count_max",
                                                                               std::size_t{256})}}};
  coroutine::Task<void> stop_;
  std::unique_ptr<net::Stream> stream_;
  bool is_closed_ = false;
};

TEST(TranscriptTest, BytesOfAFrameAreThoseOfItsFields) {
  for (const Transcript& transcript : read_transcripts()) {
    SCOPED_TRACE(transcript.name);
    for (const json& step : transcript.steps) {
      if (step.contains("does")) continue;
      SCOPED_TRACE(step.dump(1).substr(0, 2'000));
      const std::string bytes = from_transcript_hex(step["bytes"].get<std::string>());
      EXPECT_EQ(to_transcript_hex(frame_of(step)), to_transcript_hex(bytes));
      ASSERT_EQ(frame_of(step), bytes);

      FrameHeader header;
      const auto header_bytes = net::bytes_of(bytes).first<rpc::frame_header_size>();
      if (const auto decoded = rpc::decode(header_bytes, header); decoded) {
        EXPECT_EQ(header, header_of(step));
      } else {
        EXPECT_EQ(step["header"]["type"], 0x70) << "only this type is refused";
      }
      if (step["header"].contains("method")) {
        EXPECT_EQ(header.method_id, rpc::method_id(step["header"]["method"].get<std::string>()));
      }
      const std::string_view payload = std::string_view(bytes).substr(rpc::frame_header_size);
      EXPECT_EQ(payload.size(), header.payload_size);
      expect_fields(step.value("extension", json()), payload.substr(0, header.extension_size));
      expect_fields(step.value("message", json()), payload.substr(header.extension_size));
    }
  }
}

TEST(TranscriptTest, ServerAnswersAsWritten) {
  for (const Transcript& transcript : read_transcripts()) {
    if (transcript.server.contains("shared_key")) continue;  // Its nonces are random.
    SCOPED_TRACE(transcript.name);
    Replay(transcript).play();
  }
}

TEST(TranscriptTest, EveryTypeOfFrameHasOne) {
  std::set<std::string> seen;
  for (const Transcript& transcript : read_transcripts()) {
    for (const json& step : transcript.steps) {
      if (!step.contains("does")) seen.insert(step["header"]["type"].dump());
    }
  }
  for (std::size_t type = 1; rpc::is_known(static_cast<FrameType>(type)); ++type) {
    ASSERT_LT(type, frame_type_names.size()) << "a new type of frame needs a transcript";
    EXPECT_TRUE(seen.contains(json(frame_type_names[type]).dump())) << frame_type_names[type];
  }
}

// The proof of an end with a shared key, as test/data/protocol/auth.json describes it.
std::string proof_of(const std::string& key, const char* role, std::string_view client_hello,
                     std::string_view server_hello) {
  const auto size_of = [](std::string_view hello) {
    return std::string{static_cast<char>(hello.size()), '\0', '\0', '\0'};
  };
  const auto proof = net::hmac_sha256(key, {"corolane ", role, " 1", size_of(client_hello),
                                            client_hello, size_of(server_hello), server_hello});
  return std::string(net::text_of(proof));
}

TEST(TranscriptTest, EndsWithASharedKeyProveThatTheyKnowIt) {
  const auto all = read_transcripts();
  const auto found = std::ranges::find_if(
      all, [](const Transcript& one) { return one.server.contains("shared_key"); });
  ASSERT_NE(found, all.end());
  const auto key = found->server["shared_key"].get<std::string>();
  const std::string client_hello = content_of(found->steps[0], "message");
  const std::string server_hello = content_of(found->steps[1], "message");
  EXPECT_EQ(content_of(found->steps[2], "message"),
            proof_of(key, "client", client_hello, server_hello));
  EXPECT_EQ(content_of(found->steps[3], "message"),
            proof_of(key, "server", client_hello, server_hello));

  // The same with the nonce that a server has drawn.
  Replay replay(*found);
  replay.send(frame_of(found->steps[0]));
  const std::string answer = replay.receive(rpc::frame_header_size + server_hello.size());
  const std::string drawn_hello = answer.substr(rpc::frame_header_size);
  EXPECT_EQ(answer.substr(0, rpc::frame_header_size),
            frame_of(found->steps[1]).substr(0, rpc::frame_header_size));
  const auto header_of_auth = frame_of(found->steps[2]).substr(0, rpc::frame_header_size);
  replay.send(header_of_auth + proof_of(key, "client", client_hello, drawn_hello));
  const std::string proof = proof_of(key, "server", client_hello, drawn_hello);
  EXPECT_EQ(replay.receive(rpc::frame_header_size + proof.size()),
            frame_of(found->steps[3]).substr(0, rpc::frame_header_size) + proof);
}

}  // namespace
}  // namespace corolane::test
