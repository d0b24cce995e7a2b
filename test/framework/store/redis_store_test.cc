// SPDX-License-Identifier: MIT
// The parts of RedisStore that the contract does not cover: its protocol, in virtual time with a
// scripted server.
#include "framework/store/redis_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "test/framework/store/fake_redis.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::FakeRedis;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr ObjectKey alice = {.type = "chess.Player", .id = "alice"};

// A store and its server, one millisecond apart.
class RedisStoreTest : public testing::Test {
 protected:
  RedisStore& store(RedisStore::Options options = {}) {
    options.endpoints = {{.host = "redis", .port = 6379}};
    return store_.emplace(network_, std::move(options));
  }
  FakeRedis& server(FakeRedis::Answer answer = &FakeRedis::greet) {
    return server_.emplace(network_, net::Endpoint{.address = "redis", .port = 6379},
                           std::move(answer));
  }
  // A server that gives this reply to everything but greetings.
  FakeRedis& server_saying(std::string reply) {
    return server([reply = std::move(reply)](const FakeRedis::Command& command) {
      const auto greeting = FakeRedis::greet(command);
      return greeting ? greeting : reply;
    });
  }

  static Deadline soon() { return Deadline::after(1h); }

  sim::SimulatedNetwork network_{{.latency = 1ms}};
  std::optional<FakeRedis> server_;
  std::optional<RedisStore> store_;
  const TimePoint start_ = now();
};

// --- Commands and replies ---------------------------------------------------------------------

TEST_F(RedisStoreTest, NamesTheServer) {
  EXPECT_EQ(store({.database = 3}).name(), "redis redis:6379/3");
  EXPECT_TRUE(store().is_shared());
}

TEST_F(RedisStoreTest, CommandsAreAsDocumentedInTheHeader) {
  server_saying("*4\r\n$0\r\n\r\n$1\r\n0\r\n$0\r\n\r\n$0\r\n\r\n");
  const std::string partition = std::to_string(partition_of(alice.type, alice.id));
  const std::string object = "corolane:{" + partition + "}:object:chess.Player:alice";
  const std::string due = "corolane:{" + partition + "}:due";
  const std::string empty = "corolane:{" + partition + "}:empty";
  const std::string floor = "corolane:{" + partition + "}:floor";

  ASSERT_TRUE(store().seal(alice, 18'446'744'073'709'551'615u, soon()));
  EXPECT_THAT(server_->commands.back(),
              ElementsAre("EVALSHA", testing::SizeIs(40), "3", object, empty, floor,
                          "18446744073709551615", "chess.Player:alice", testing::SizeIs(13)));
  EXPECT_THAT(store_->write(alice, 42, 7, {.bytes = "state", .wake_at = WallTime(1234ms)}, soon()),
              fails_with(Code::data_loss))
      << "a reply to a seal";
  EXPECT_THAT(server_->commands.back(), ElementsAre("EVALSHA", testing::SizeIs(40), "3", object,
                                                    due, empty, "00000000000000000042", "7", "8",
                                                    "state", "chess.Player:alice", "1234", ""));
  static_cast<void>(
      store_->write(alice, 42, 7, {.bytes = "", .forget_at = WallTime(4321ms)}, soon()));
  EXPECT_EQ(server_->commands.back().back(), "4321");
  static_cast<void>(store_->forget(17, WallTime(5678ms), 10, soon()));
  EXPECT_THAT(server_->commands.back(),
              ElementsAre("EVALSHA", testing::SizeIs(40), "2", "corolane:{17}:empty",
                          "corolane:{17}:floor", "5678", "10", "corolane:{17}:object:"));
  static_cast<void>(store_->due(17, WallTime(5678ms), 10, soon()));
  EXPECT_THAT(server_->commands.back(), ElementsAre("ZRANGEBYSCORE", "corolane:{17}:due", "-inf",
                                                    "5678", "WITHSCORES", "LIMIT", "0", "10"));
  static_cast<void>(store_->next_epoch(soon()));
  EXPECT_THAT(server_->commands.back(), ElementsAre("INCR", "corolane:epoch"));
}

TEST_F(RedisStoreTest, APrefixSeparatesGames) {
  server_saying(":1\r\n");
  ASSERT_TRUE(store({.key_prefix = "chess/"}).next_epoch(soon()));
  EXPECT_THAT(server_->commands.back(), ElementsAre("INCR", "chess/epoch"));
  static_cast<void>(store_->due(17, {}, 10, soon()));
  EXPECT_EQ(server_->commands.back()[1], "chess/{17}:due");
}

TEST_F(RedisStoreTest, ATypeWithAColonIsRefused) {
  const ObjectKey key = {.type = "chess:Player", .id = "alice"};
  EXPECT_THAT(store().seal(key, 1, soon()), fails_with(Code::invalid_argument));
  EXPECT_THAT(store_->write(key, 1, 0, {}, soon()), fails_with(Code::invalid_argument));
}

TEST_F(RedisStoreTest, ManyCallsAreInFlightAndAnsweredInTheirOrder) {
  server();
  store();
  std::vector<std::uint64_t> epochs;
  coroutine::TaskGroup tasks;
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(tasks.spawn("call", [&] { epochs.push_back(*store_->next_epoch(soon())); }));
  }
  server_->wait_for(3);
  EXPECT_TRUE(epochs.empty());
  server_->say(":10\r\n:20\r\n:30\r\n");
  EXPECT_TRUE(tasks.join(soon()));
  EXPECT_THAT(epochs, ElementsAre(10, 20, 30));
  EXPECT_EQ(server_->connection_count, 1u);
  // One round trip to connect, one for the mark, one for all of them.
  EXPECT_EQ(now() - start_, 3 * 2ms);
}

TEST_F(RedisStoreTest, RepliesMayComeInAnyPieces) {
  std::string state(300, '\r');
  const std::string reply = "*4\r\n$1\r\n0\r\n$1\r\n7\r\n$" + std::to_string(state.size()) +
                            "\r\n" + state + "\r\n$0\r\n\r\n";
  for (const std::size_t size : {1u, 2u, 3u, 7u, 1000u}) {
    sim::SimulatedNetwork network({.latency = 1ms, .piece_bytes_max = size});
    FakeRedis server(network, {.address = "redis", .port = 6379},
                     [&](const FakeRedis::Command& command) {
                       const auto greeting = FakeRedis::greet(command);
                       return greeting ? greeting : reply;
                     });
    RedisStore store(network, {.endpoints = {{.host = "redis", .port = 6379}}});
    const auto sealed = store.seal(alice, 1, soon());
    ASSERT_TRUE(sealed) << sealed;
    EXPECT_EQ(*sealed, (StoredObject{.version = 7, .bytes = state}));
  }
}

TEST_F(RedisStoreTest, AScriptUnknownToTheServerIsSent) {
  bool knows = false;
  server([&](const FakeRedis::Command& command) -> std::optional<std::string> {
    if (auto greeting = FakeRedis::greet(command)) return greeting;
    knows = knows || command[0] == "EVAL";
    return knows ? "*0\r\n" : "-NOSCRIPT No matching script. Please use EVAL.\r\n";
  });
  EXPECT_TRUE(store().write(alice, 1, 0, {.bytes = "first"}, soon()));
  EXPECT_TRUE(store_->write(alice, 1, 1, {.bytes = "second"}, soon()));
  ASSERT_EQ(server_->commands.size(), 3u);
  EXPECT_EQ(server_->commands[0][0], "EVALSHA");
  EXPECT_EQ(server_->commands[1][0], "EVAL");
  EXPECT_THAT(server_->commands[1][1], HasSubstr("redis.call('HSET'"));
  EXPECT_EQ(server_->commands[2][0], "EVALSHA");
}

TEST_F(RedisStoreTest, ErrorsOfTheServerAreTranslated) {
  const std::pair<const char*, Code> errors[] = {
      {"NOAUTH Authentication required.", Code::unauthenticated},
      {"NOPERM this user has no permissions", Code::permission_denied},
      {"OOM command not allowed when used memory > 'maxmemory'.", Code::resource_exhausted},
      {"ERR Error running script (call to f_1): @user_script: 2: -OOM command not allowed",
       Code::resource_exhausted},
      {"MISCONF Errors writing to the AOF file: No space left on device", Code::resource_exhausted},
      {"MISCONF Redis is configured to save RDB snapshots, but", Code::unavailable},
      {"LOADING Redis is loading the dataset in memory", Code::unavailable},
      {"READONLY You can't write against a read only replica.", Code::unavailable},
      {"CLUSTERDOWN Hash slot not served", Code::unavailable},
      {"BUSY Redis is busy running a script.", Code::unavailable},
      {"MOVED 3999 127.0.0.1:6381", Code::failed_precondition},
      {"ASK 3999 127.0.0.1:6381", Code::failed_precondition},
      {"CROSSSLOT Keys in request don't hash to the same slot", Code::failed_precondition},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", Code::data_loss},
      {"ERR unknown command", Code::failed_precondition},
      {"OOMPH", Code::failed_precondition}};
  for (const auto& [text, code] : errors) {
    server_.reset();
    server_saying("-" + std::string(text) + "\r\n");
    const auto failed = store().seal(alice, 1, soon());
    ASSERT_THAT(failed, fails_with(code)) << text;
    EXPECT_FALSE(failed.error().maybe_executed()) << text;
    EXPECT_THAT(failed.error().message(),
                AllOf(HasSubstr("redis redis:6379/0: "), HasSubstr(text)));
  }
}

TEST_F(RedisStoreTest, AnUnexpectedReplyIsDataLoss) {
  for (const char* const reply :
       {"+OK\r\n", "$-1\r\n", "*1\r\n$1\r\nx\r\n", "*2\r\n:1\r\n:2\r\n",
        "*4\r\n$1\r\n1\r\n$3\r\none\r\n$0\r\n\r\n$0\r\n\r\n", "*-1\r\n"}) {
    server_.reset();
    server_saying(reply);
    EXPECT_THAT(store().seal(alice, 1, soon()), fails_with(Code::data_loss)) << reply;
    EXPECT_THAT(store_->write(alice, 1, 0, {}, soon()), fails_with(Code::data_loss)) << reply;
    EXPECT_THAT(store_->due(0, {}, 1, soon()), fails_with(Code::data_loss)) << reply;
    EXPECT_THAT(store_->next_epoch(soon()), fails_with(Code::data_loss)) << reply;
  }
}

// --- Callers that give up ---------------------------------------------------------------------

TEST_F(RedisStoreTest, TheReplyToAnAbandonedCallGoesToNoOtherCall) {
  server();
  store();
  auto hasty = coroutine::spawn("hasty", [&] { return store_->next_epoch(Deadline::after(10ms)); });
  auto cancelled = coroutine::spawn("cancelled", [&] { return store_->next_epoch(soon()); });
  auto patient = coroutine::spawn("patient", [&] { return store_->next_epoch(soon()); });
  server_->wait_for(3);
  cancelled.cancel();
  for (auto* const task : {&hasty, &cancelled}) {
    const auto gave_up = task->join(soon());
    ASSERT_FALSE(gave_up);
    EXPECT_TRUE(gave_up.error().maybe_executed());
  }
  EXPECT_EQ(now() - start_, 10ms);
  server_->say(":1\r\n:2\r\n:3\r\n");
  EXPECT_EQ(patient.join(soon()).value_or(0), 3u);
}

TEST_F(RedisStoreTest, ACallAbandonedBeforeTheConnectionHasDoneNothing) {
  network_.set_host("redis", {.is_silent = true});
  const auto late = store().next_epoch(Deadline::after(10ms));
  ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(late.error().maybe_executed());
  EXPECT_EQ(now() - start_, 10ms);
}

TEST_F(RedisStoreTest, TooManyCallsAreRefused) {
  server();
  store({.pending_count_max = 2});
  coroutine::TaskGroup tasks;
  for (int number = 0; number < 2; ++number) {
    ASSERT_TRUE(tasks.spawn("call", [&] { EXPECT_TRUE(store_->next_epoch(soon())); }));
  }
  ASSERT_TRUE(coroutine::yield());
  EXPECT_THAT(store_->next_epoch(soon()), fails_with(Code::resource_exhausted)) << "both connect";
  server_->wait_for(2);
  const auto refused = store_->next_epoch(soon());
  ASSERT_THAT(refused, fails_with(Code::resource_exhausted)) << "both wait";
  EXPECT_FALSE(refused.error().maybe_executed());
  EXPECT_GT(refused.error().retry_after(), 0ms) << "or the store would pass for a full one";
  server_->say(":1\r\n:2\r\n");
  EXPECT_TRUE(tasks.join(soon()));
  auto again = coroutine::spawn("call", [&] { return store_->next_epoch(soon()); });
  server_->wait_for(3);
  server_->say(":3\r\n");
  EXPECT_TRUE(again.join(soon()));
}

TEST_F(RedisStoreTest, UnsentOutputIsBounded) {
  server();
  store({.output_bytes_max = 1000});
  coroutine::TaskGroup tasks;
  // Both come in one turn after connecting: the server has read nothing of the first before the
  // second.
  ASSERT_TRUE(tasks.spawn("first", [&] {
    EXPECT_TRUE(store_->write(alice, 1, 0, {.bytes = std::string(2000, 'x')}, soon()));
  }));
  ASSERT_TRUE(tasks.spawn("second", [&] {
    const auto refused = store_->write(alice, 1, 0, {.bytes = "small"}, soon());
    ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
    EXPECT_FALSE(refused.error().maybe_executed());
    EXPECT_GT(refused.error().retry_after(), 0ms);
  }));
  server_->wait_for(1);
  server_->say("*0\r\n");
  EXPECT_TRUE(tasks.join(soon()));
}

// --- Connections that are lost ----------------------------------------------------------------

TEST_F(RedisStoreTest, ALostConnectionFailsItsCallsAtOnceAsMaybeExecuted) {
  server();
  store();
  auto epoch = coroutine::spawn("epoch", [&] { return store_->next_epoch(Deadline::never()); });
  auto seal = coroutine::spawn("seal", [&] { return store_->seal(alice, 1, Deadline::never()); });
  auto write =
      coroutine::spawn("write", [&] { return store_->write(alice, 1, 0, {}, Deadline::never()); });
  auto due = coroutine::spawn("due", [&] { return store_->due(0, {}, 1, Deadline::never()); });
  server_->wait_for(4);
  const TimePoint before = now();
  network_.reset_all();
  const Error errors[] = {
      epoch.join(Deadline::never()).error(), seal.join(Deadline::never()).error(),
      write.join(Deadline::never()).error(), due.join(Deadline::never()).error()};
  EXPECT_EQ(now(), before);
  for (const Error& error : errors) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_THAT(error.message(), HasSubstr("redis redis:6379/0: connection reset"));
    EXPECT_EQ(error.maybe_executed(), &error != &errors[3]) << "what only reads does nothing";
  }
}

TEST_F(RedisStoreTest, CallsWaitForTheNextConnection) {
  server_saying(":1\r\n");
  ASSERT_TRUE(store().next_epoch(soon()));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint before = now();
  network_.reset_all();
  EXPECT_TRUE(store_->next_epoch(soon()));
  EXPECT_EQ(server_->connection_count, 2u);
  EXPECT_EQ(now() - before, 3 * 2ms);
}

TEST_F(RedisStoreTest, TheNextConnectionIsMadeBeforeTheNextCall) {
  server_saying(":1\r\n");
  ASSERT_TRUE(store().next_epoch(soon()));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  network_.reset_all();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(server_->connection_count, 2u);
  const TimePoint before = now();
  EXPECT_TRUE(store_->next_epoch(soon()));
  EXPECT_EQ(now() - before, 2ms);
}

TEST_F(RedisStoreTest, ALongOutageFailsCallsAtOnceUntilTheServerIsBack) {
  store();
  const auto first = store_->next_epoch(soon());
  ASSERT_THAT(first, fails_with(Code::unavailable));
  EXPECT_FALSE(first.error().maybe_executed());
  EXPECT_THAT(first.error().message(),
              AllOf(HasSubstr("no connection to redis redis:6379/0"), HasSubstr("refused")));
  EXPECT_EQ(now() - start_, 3s);
  // Retries after 20 ms, doubled up to 2 s.
  EXPECT_LE(network_.connect_count(), 10u);

  const auto second = store_->next_epoch(soon());
  ASSERT_THAT(second, fails_with(Code::unavailable));
  EXPECT_EQ(now() - start_, 3s);
  EXPECT_GT(second.error().retry_after(), 0ms);
  EXPECT_LE(second.error().retry_after(), 2s);

  server_saying(":1\r\n");
  ASSERT_TRUE(coroutine::sleep_for(2s));
  if (!store_->next_epoch(soon())) {
    // It retries only when it is called again.
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    EXPECT_TRUE(store_->next_epoch(soon()));
  }
}

TEST_F(RedisStoreTest, AServerThatIsLoadingIsWaitedFor) {
  int left = 3;
  server([&](const FakeRedis::Command& command) -> std::optional<std::string> {
    if (FakeRedis::asks_for_mark(command) && left-- > 0)
      return "-LOADING Redis is loading the dataset\r\n";
    if (auto greeting = FakeRedis::greet(command)) return greeting;
    return ":1\r\n";
  });
  EXPECT_TRUE(store().next_epoch(soon()));
  EXPECT_EQ(server_->connection_count, 4u);
}

TEST_F(RedisStoreTest, AServerThatLoadsForLongIsNotWaitedFor) {
  server([&](const FakeRedis::Command& command) -> std::optional<std::string> {
    if (FakeRedis::asks_for_mark(command)) return "-LOADING Redis is loading the dataset\r\n";
    return FakeRedis::greet(command);
  });
  const auto failed = store().next_epoch(soon());
  ASSERT_THAT(failed, fails_with(Code::unavailable));
  EXPECT_FALSE(failed.error().maybe_executed());
  EXPECT_THAT(failed.error().message(), HasSubstr("reading its data"));
  EXPECT_EQ(now() - start_, 3s);
}

TEST_F(RedisStoreTest, AConnectionThatKeepsEndingIsRetriedWithPauses) {
  server();
  server_->answer = [&](const FakeRedis::Command& command) {
    auto greeting = FakeRedis::greet(command);
    if (!greeting) server_->hang_up();
    return greeting;
  };
  store();
  const TimePoint end = now() + 1s;
  while (now() < end) EXPECT_THAT(store_->next_epoch(soon()), fails_with(Code::unavailable));
  EXPECT_LE(server_->connection_count, 1s / 20ms);
}

TEST_F(RedisStoreTest, ASilentServerIsAbandonedAndItsCallsAreMaybeExecuted) {
  server();
  store({.silence_max = 10s});
  const auto failed = store_->next_epoch(Deadline::never());
  ASSERT_THAT(failed, fails_with(Code::unavailable));
  EXPECT_TRUE(failed.error().maybe_executed());
  EXPECT_THAT(failed.error().message(), HasSubstr("no answer in 10000 ms"));
  EXPECT_EQ(now() - start_, 4ms + 10s);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(server_->connection_count, 2u);
}

TEST_F(RedisStoreTest, ASlowServerIsNotSilent) {
  server();
  store({.silence_max = 10s});
  coroutine::TaskGroup tasks;
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(tasks.spawn("call", [&] { EXPECT_TRUE(store_->next_epoch(soon())); }));
  }
  server_->wait_for(3);
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(coroutine::sleep_for(9s));
    server_->say(":1\r\n");
  }
  EXPECT_TRUE(tasks.join(soon()));
  ASSERT_TRUE(coroutine::sleep_for(1h)) << "nobody waits: silence is no fault";
  EXPECT_EQ(server_->connection_count, 1u);
}

TEST_F(RedisStoreTest, AReplicaIsAbandonedForTheNewMaster) {
  server_saying("-READONLY You can't write against a read only replica.\r\n");
  const auto refused = store().seal(alice, 1, soon());
  ASSERT_THAT(refused, fails_with(Code::unavailable));
  EXPECT_FALSE(refused.error().maybe_executed());
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(server_->connection_count, 2u);
}

TEST_F(RedisStoreTest, AServerThatIsNotARedisIsRejected) {
  const std::pair<const char*, const char*> sayings[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak the protocol of Redis"},
      {"$-77\r\n", "does not speak the protocol of Redis"},
      {":1\r\n", "does not answer as a Redis does"},
      {"*5\r\n+s\r\n+1\r\n+1\r\n+i\r\n+1\r\n:1\r\n", "without a request"},
      {"-DENIED Redis is running in protected mode\r\n", "other machines"}};
  for (const auto& [saying, meaning] : sayings) {
    server_.reset();
    server([text = std::string(saying)](const FakeRedis::Command&) { return text; });
    const auto failed = store().next_epoch(soon());
    ASSERT_FALSE(failed);
    EXPECT_FALSE(failed.error().maybe_executed());
    EXPECT_THAT(failed.error().message(), HasSubstr(meaning));
  }
}

TEST_F(RedisStoreTest, AReplyThatIsTooLongBreaksTheConnection) {
  server_saying("$2000\r\n" + std::string(2000, 'x') + "\r\n");
  const auto failed = store({.reply_bytes_max = 1000}).next_epoch(soon());
  ASSERT_THAT(failed, fails_with(Code::unavailable));
  EXPECT_TRUE(failed.error().maybe_executed());
  EXPECT_THAT(failed.error().message(), HasSubstr("longer than 1000 bytes"));
}

// --- Authentication---------------------------------------------------------------------------

TEST_F(RedisStoreTest, UserPasswordAndDatabaseComeFirst) {
  server_saying(":1\r\n");
  ASSERT_TRUE(store({.user = "game", .password = "secret", .database = 3}).next_epoch(soon()));
  EXPECT_THAT(server_->greetings,
              ElementsAre(ElementsAre("AUTH", "game", "secret"), ElementsAre("SELECT", "3"),
                          testing::Contains("corolane:server")));
  server_->greetings.clear();
  ASSERT_TRUE(store({.password = "secret"}).next_epoch(soon()));
  EXPECT_THAT(server_->greetings,
              ElementsAre(ElementsAre("AUTH", "secret"), testing::Contains("corolane:server")));
}

TEST_F(RedisStoreTest, AWrongPasswordFailsAtOnceAndIsRarelyRetried) {
  bool is_right = false;
  server([&](const FakeRedis::Command& command) -> std::optional<std::string> {
    if (command[0] == "AUTH" && !is_right) return "-WRONGPASS invalid username-password pair\r\n";
    if (auto greeting = FakeRedis::greet(command)) return greeting;
    return ":1\r\n";
  });
  const auto refused = store({.password = "wrong"}).next_epoch(soon());
  ASSERT_THAT(refused, fails_with(Code::unauthenticated));
  EXPECT_FALSE(refused.error().maybe_executed());
  EXPECT_THAT(refused.error().message(),
              AllOf(HasSubstr("no connection to redis redis:6379/0"), HasSubstr("WRONGPASS")));
  EXPECT_THAT(refused.error().message(), testing::Not(HasSubstr("wrong\"")));
  EXPECT_EQ(now() - start_, 2 * 2ms);

  while (now() < start_ + 20s) {
    EXPECT_THAT(store_->next_epoch(soon()), fails_with(Code::unauthenticated));
    ASSERT_TRUE(coroutine::sleep_for(5ms));
  }
  EXPECT_LE(server_->connection_count, 30u) << "not by each call";
  is_right = true;
  while (now() < start_ + 40s && !store_->next_epoch(soon())) {
    ASSERT_TRUE(coroutine::sleep_for(100ms));
  }
  EXPECT_TRUE(store_->next_epoch(soon()));
}

TEST_F(RedisStoreTest, AStoreMayEndWhileItConnects) {
  network_.set_host("redis", {.is_silent = true});
  EXPECT_THAT(store().next_epoch(Deadline::after(1ms)), fails_with(Code::deadline_exceeded));
  store_.reset();
  EXPECT_EQ(now() - start_, 1ms);
}

}  // namespace
}  // namespace corolane::framework
