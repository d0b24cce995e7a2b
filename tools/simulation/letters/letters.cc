// SPDX-License-Identifier: MIT
#include "tools/simulation/letters/letters.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "framework/edge/user.h"
#include "framework/node/shard.h"
#include "rpc/client/client.h"
#include "rpc/wire/wire.pb.h"
#include "tools/simulation/letters/letters.corolane.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t concern = 50'000'000;
constexpr const char* mark_of_resume = "a session is resumed";
constexpr const char* mark_of_gap = "a session loses pushes, and says so";
constexpr const char* mark_of_two = "a session is resumed twice at once";
constexpr Duration patience = 2s;
constexpr Duration send_time_max = 2s;
// More than a session keeps.
constexpr int burst = 300;
constexpr std::uint64_t bursts_one_in = 40;

class PostService final : public PostBase {
 public:
  explicit PostService(framework::Router& router) : router_(router) {}

  Result<google::protobuf::Empty> send(const Letter& letter, rpc::Context& call) override {
    auto pushed =
        framework::User(router_, letter.user()).push(letter, {.deadline = call.deadline()});
    if (!pushed) return std::move(pushed.error());
    return google::protobuf::Empty();
  }

 private:
  framework::Router& router_;
};

}  // namespace

void Letters::set_up(framework::Node& node) {
  node.set_login([](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
    // A login service takes its time.
    if (auto slept = coroutine::sleep_for(5ms); !slept) return slept.error();
    return rpc::Principal{.id = std::string(token)};
  });
  node.serve([](framework::Shard& shard) { return std::make_unique<PostService>(shard.router()); });
  node.host_users();
}

Letters::Letters(SimulatedCluster& cluster, SimulatedRun& run, const Options& options)
    : cluster_(cluster), run_(run) {
  for (const char* const mark : {mark_of_resume, mark_of_gap, mark_of_two}) {
    cluster_.sometimes(mark, false);
  }
  for (std::size_t i = 0; i < options.user_count; ++i) {
    readers_.push_back(std::make_unique<Reader>());
    readers_.back()->user = "user " + std::to_string(i);
  }
}

// Clients that still run refer to this object.
Letters::~Letters() { cluster_.client_host().kill(); }

void Letters::open() {
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    Reader& reader = *readers_[i];
    cluster_.spawn("sender of " + reader.user, [this, &reader, i] { send(reader, i); });
    cluster_.spawn("reader " + reader.user, [this, &reader, i] { read(reader, i); });
  }
}

void Letters::send(Reader& reader, std::uint64_t index) {
  test::Random dice = cluster_.simulation().dice(concern + 1'000 + index);
  rpc::Client client(
      cluster_.network(), cluster_.servers(),
      {.connect_time_max = 1s, .token = [] { return Result<std::string>("sender"); }});
  PostClient post(client);
  while (!run_.is_ending()) {
    if (!coroutine::sleep_for(dice.up_to(400ms))) return;
    const int count = dice.below(bursts_one_in) == 0 ? burst : 1;
    for (int i = 0; i < count && !run_.is_ending(); ++i) {
      Letter letter;
      letter.set_user(reader.user);
      letter.set_number(++reader.sent);
      const auto sent = post.send(letter, {.deadline = Deadline::after(send_time_max)});
      if (sent) reader.pushed.insert(letter.number());
    }
  }
}

void Letters::read(Reader& reader, std::uint64_t index) {
  test::Random dice = cluster_.simulation().dice(concern + index);
  while (!run_.is_ending()) {
    switch (dice.below(8)) {
      case 0:
        visit_briefly(reader, dice);
        break;
      case 1:
        visit_twice(reader, dice);
        break;
      case 2:
        steal(reader, dice);
        break;
      default:
        visit(reader, dice, dice.up_to(3s));
        break;
    }
    // Now and then away for longer.
    const Duration pause_max = dice.below(6) == 0 ? Duration(4s) : Duration(200ms);
    if (!coroutine::sleep_for(dice.up_to(pause_max))) return;
  }
}

Result<WireClient> Letters::connect(test::Random& dice) {
  const auto& servers = cluster_.servers();
  return WireClient::connect(cluster_.network(), servers[dice.below(servers.size())],
                             Deadline::after(1s));
}

void Letters::excuse(Reader& reader) { reader.excused = reader.sent; }

Result<void> Letters::begin(Reader& reader, WireClient& client) {
  const bool had_session = !reader.secret.empty();
  client.say_hello({.user = reader.user,
                    .session = reader.secret,
                    .received_push = had_session ? reader.received_push : 0});
  const auto answer = client.receive(Deadline::after(patience));
  if (!answer) {
    // The server has ended the session, and says so each time.
    if (answer.error().code() == Code::aborted) {
      reader.secret.clear();
      excuse(reader);
    }
    return answer.error();
  }
  if (answer->type != rpc::FrameType::hello) {
    cluster_.violated("a frame of type " + std::to_string(static_cast<int>(answer->type)) +
                      " comes before the hello of the server");
    return Error(Code::internal, "no hello");
  }
  rpc::Hello hello;
  hello.ParseFromString(answer->message);
  cluster_.sometimes(mark_of_resume, hello.is_resumed());
  if (!hello.is_resumed()) {
    reader.received_push = 0;
    excuse(reader);
  }
  if (had_session && reader.secret != hello.session()) reader.old_secrets.push_back(reader.secret);
  reader.secret = hello.session();
  return {};
}

void Letters::take(Reader& reader, const WireClient::Received& received) {
  Letter letter;
  letter.ParseFromString(received.message);
  const std::uint64_t number = letter.number();
  if (letter.user() != reader.user) {
    return cluster_.violated(reader.user + " reads a letter to " + letter.user());
  }
  const std::string what = reader.user + ": letter " + std::to_string(number);
  if (!reader.arrived.insert(number).second) return cluster_.violated(what + " comes twice");
  // One whose sender has given up may still be on its way.
  if (number < reader.last && reader.pushed.contains(number)) {
    cluster_.violated(what + " comes after " + std::to_string(reader.last));
  }
  for (auto missing = reader.pushed.upper_bound(std::max(reader.last, reader.excused));
       missing != reader.pushed.end() && *missing < number; ++missing) {
    cluster_.violated(reader.user + ": letter " + std::to_string(*missing) + " is lost silently");
  }
  reader.last = std::max(reader.last, number);
}

void Letters::visit(Reader& reader, test::Random& dice, Duration time) {
  auto client = connect(dice);
  if (!client || !begin(reader, *client)) return;
  const bool acknowledges = dice.below(4) != 0;
  for (const Deadline end = Deadline::after(time);;) {
    const auto received = client->receive(end);
    if (!received) return;
    if (received->type == rpc::FrameType::push_gap) {
      cluster_.sometimes(mark_of_gap);
      if (received->number <= reader.received_push) {
        return cluster_.violated(reader.user + ": a gap of what has come");
      }
      excuse(reader);
    } else if (received->type != rpc::FrameType::push) {
      continue;
    } else if (received->number != reader.received_push + 1) {
      return cluster_.violated(reader.user + ": push " + std::to_string(received->number) +
                               " comes after " + std::to_string(reader.received_push));
    } else {
      take(reader, *received);
    }
    reader.received_push = received->number;
    if (acknowledges) client->acknowledge(reader.received_push);
  }
}

void Letters::visit_briefly(const Reader& reader, test::Random& dice) {
  auto client = connect(dice);
  if (!client) return;
  // A secret may change unseen: only one that the client has seen is kept.
  client->say_hello({.user = reader.user,
                     .session = reader.secret,
                     .received_push = reader.secret.empty() ? 0 : reader.received_push},
                    dice.below(100));
  static_cast<void>(coroutine::sleep_for(dice.up_to(20ms)));
}

// The older connection of a session ends when a newer one has it.
void Letters::visit_twice(Reader& reader, test::Random& dice) {
  auto older = connect(dice);
  if (!older || !begin(reader, *older)) return;
  const std::string secret = reader.secret;
  auto newer = connect(dice);
  if (!newer) return;
  newer->say_hello(
      {.user = reader.user, .session = reader.secret, .received_push = reader.received_push});
  const auto answer = newer->receive(Deadline::after(patience));
  if (!answer || answer->type != rpc::FrameType::hello) return;
  rpc::Hello hello;
  hello.ParseFromString(answer->message);
  reader.secret = hello.session();
  if (!hello.is_resumed()) {
    reader.received_push = 0;
    return excuse(reader);
  }
  cluster_.sometimes(mark_of_two);
  if (!coroutine::sleep_for(100ms)) return;
  older->ping();
  for (const Deadline end = Deadline::after(patience);;) {
    const auto received = older->receive(end);
    if (!received) return;
    if (received->type == rpc::FrameType::pong) {
      return cluster_.violated(reader.user + ": two connections of one session live");
    }
  }
}

void Letters::steal(const Reader& reader, test::Random& dice) {
  if (reader.secret.empty()) return;
  auto client = connect(dice);
  if (!client) return;
  const auto& old = reader.old_secrets;
  const bool takes_old = !old.empty() && dice.below(2) == 0;
  client->say_hello(
      {.user = "thief", .session = takes_old ? old[dice.below(old.size())] : reader.secret});
  for (const Deadline end = Deadline::after(500ms);;) {
    const auto received = client->receive(end);
    if (!received) return;
    if (received->type == rpc::FrameType::push) {
      return cluster_.violated("a thief reads the letters of " + reader.user);
    }
    rpc::Hello hello;
    const bool is_hello = received->type == rpc::FrameType::hello;
    if (is_hello && hello.ParseFromString(received->message) && hello.is_resumed()) {
      return cluster_.violated("a thief resumes the session of " + reader.user);
    }
  }
}

void Letters::settle() {
  for (const auto& reader : readers_) {
    const auto is_read = [&] {
      return reader->pushed.empty() ||
             std::max(reader->last, reader->excused) >= *reader->pushed.rbegin();
    };
    cluster_.run("the last letters of " + reader->user, [&] {
      test::Random dice = cluster_.simulation().dice(concern + 2'000);
      for (int i = 0; i < 10 && !is_read(); ++i) {
        visit(*reader, dice, 1s);
        if (!coroutine::sleep_for(500ms)) return;
      }
    });
    if (is_read()) continue;
    cluster_.violated(reader->user + ": letter " + std::to_string(*reader->pushed.rbegin()) +
                      " never comes");
  }
  std::uint64_t count = 0;
  for (const auto& reader : readers_) count += reader->arrived.size();
  run_.count("letters", count);
}

}  // namespace corolane::sim
