// SPDX-License-Identifier: MIT
#include "framework/directory/detail/etcd_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::fails_with;
using testing::HasSubstr;
using testing::SizeIs;
using Field = Directory::Condition::Field;

// "/c/" is L2Mv, "a" after it L2MvYQ==, and the first key after all of them, "/c0", L2Mw.
const EtcdJson coder("/c/");

// An answer with all of its fields and no error.
constexpr std::string_view range_answer =
    R"({"header":{"cluster_id":"14841639068965178418","member_id":"10276657743932975437",)"
    R"("revision":"9007199254740993","raft_term":"2"},"kvs":[)"
    R"({"key":"L2MvYQ==","create_revision":"7","mod_revision":"9","version":"3","value":"MQ=="},)"
    R"({"key":"L2MvYg==","create_revision":"8","mod_revision":"8","lease":"5"}],"count":"2"})";
constexpr std::string_view news_line =
    R"({"result":{"header":{"revision":"12"},"events":[)"
    R"({"kv":{"key":"L2MvYQ==","create_revision":"7","mod_revision":"11","value":"Mg=="}},)"
    R"({"type":"DELETE","kv":{"key":"L2MvYg==","mod_revision":"12"}}]}})";

TEST(EtcdJsonTest, RequestsHaveTheFormatOfTheGateway) {
  EXPECT_EQ(json::parse(EtcdJson::authenticate("me", "pass\"word")),
            json::parse(R"({"name":"me","password":"pass\"word"})"));
  EXPECT_EQ(json::parse(EtcdJson::grant(6s)), json::parse(R"({"TTL":"6"})"));
  EXPECT_EQ(json::parse(EtcdJson::lease(7587899073351163653)),
            json::parse(R"({"ID":"7587899073351163653"})"));
  EXPECT_EQ(json::parse(coder.list("")), json::parse(R"({"key":"L2Mv","range_end":"L2Mw"})"));
  EXPECT_EQ(json::parse(coder.list("", 7)),
            json::parse(R"({"key":"L2Mv","range_end":"L2Mw","min_mod_revision":"8"})"));
  EXPECT_EQ(json::parse(coder.read(std::vector<std::string>{"b", "a"})),
            json::parse(R"({"compare":[],"success":[
              {"request_range":{"key":"L2MvYQ=="}},{"request_range":{"key":"L2MvYg=="}}]})"));
  EXPECT_EQ(json::parse(coder.watch("a", 17)),
            json::parse(R"({"create_request":{"key":"L2MvYQ==","range_end":"L2MvYg==",
                            "start_revision":"17","progress_notify":true,"fragment":true}})"));
  EXPECT_EQ(json::parse(coder.commit(
                {.conditions = {{.key = "a", .field = Field::created_at, .revision = 3},
                                {.key = "b", .is_equal = false, .revision = 4}},
                 .puts = {{.key = "a", .value = "1", .lease = 5}},
                 .removals = {"b"}})),
            json::parse(R"({
        "compare":[
          {"key":"L2MvYQ==","target":"CREATE","result":"EQUAL","create_revision":"3"},
          {"key":"L2MvYg==","target":"MOD","result":"NOT_EQUAL","mod_revision":"4"}],
        "success":[
          {"request_put":{"key":"L2MvYQ==","value":"MQ==","lease":"5"}},
          {"request_delete_range":{"key":"L2MvYg=="}}]})"));
}

TEST(EtcdJsonTest, ARangeEndsAfterAllKeysWithItsPrefix) {
  // "/c/\xff" ends where "/c0" begins, and without a prefix both ends are open.
  EXPECT_EQ(json::parse(coder.list("\xff"))["range_end"], "L2Mw");
  EXPECT_EQ(json::parse(EtcdJson("").list("")),
            json::parse(R"({"key":"AA==","range_end":"AA=="})"));
  EXPECT_EQ(json::parse(EtcdJson("").list("\xff\xff"))["range_end"], "AA==");
}

TEST(EtcdJsonTest, AnswersAreParsed) {
  EXPECT_EQ(EtcdJson::read_token(R"({"header":{},"token":"abc.17"})"), "abc.17");
  EXPECT_EQ(EtcdJson::read_grant(R"({"header":{},"ID":"7587899073351163653","TTL":"6"})"),
            7587899073351163653u);
  EXPECT_EQ(EtcdJson::read_keep_alive(R"({"result":{"header":{},"ID":"5","TTL":"6"}})"), true);
  EXPECT_EQ(EtcdJson::read_keep_alive(R"({"result":{"header":{},"ID":"5"}})"), false);

  const auto done = EtcdJson::read_commit(R"({"header":{"revision":"8"},"succeeded":true})");
  ASSERT_TRUE(done) << done;
  EXPECT_TRUE(done->is_done);
  EXPECT_EQ(done->revision, 8u);
  const auto not_done = EtcdJson::read_commit(R"({"header":{"revision":"8"}})");
  ASSERT_TRUE(not_done) << not_done;
  EXPECT_FALSE(not_done->is_done);
}

TEST(EtcdJsonTest, AListIsParsedWithoutThePrefix) {
  const auto snapshot = coder.read_list(range_answer);
  ASSERT_TRUE(snapshot) << snapshot;
  EXPECT_EQ(snapshot->revision, 9007199254740993u);
  ASSERT_THAT(snapshot->entries, SizeIs(2));
  EXPECT_EQ(snapshot->entries[0].key, "a");
  EXPECT_EQ(snapshot->entries[0].value, "1");
  EXPECT_EQ(snapshot->entries[0].created_at, 7u);
  EXPECT_EQ(snapshot->entries[0].modified_at, 9u);
  EXPECT_EQ(snapshot->entries[1].key, "b");
  EXPECT_EQ(snapshot->entries[1].value, "");
  const auto nothing = coder.read_list(R"({"header":{"revision":"1"}})");
  ASSERT_TRUE(nothing) << nothing;
  EXPECT_THAT(nothing->entries, SizeIs(0));
}

TEST(EtcdJsonTest, RecentChangesComeWithTheCountOfAllEntries) {
  const auto recent = coder.read_list_since(range_answer);
  ASSERT_TRUE(recent) << recent;
  EXPECT_EQ(recent->entry_count, 2u);
  EXPECT_THAT(recent->entries, SizeIs(2));
}

TEST(EtcdJsonTest, TheEntriesOfAReadAreThoseOfAllItsRanges) {
  const auto some = coder.read_entries(
      R"({"header":{"revision":"12"},"succeeded":true,"responses":[)"
      R"({"response_range":{"header":{"revision":"12"},"kvs":[)"
      R"({"key":"L2MvYQ==","create_revision":"7","mod_revision":"9","value":"MQ=="}],)"
      R"("count":"1"}},{"response_range":{"header":{"revision":"12"}}}]})");
  ASSERT_TRUE(some) << some;
  EXPECT_EQ(some->revision, 12u);
  ASSERT_THAT(some->entries, SizeIs(1));
  EXPECT_EQ(some->entries[0].key, "a");
  EXPECT_FALSE(coder.read_entries(R"({"header":{"revision":"12"},"responses":[{}]})"));
}

TEST(EtcdJsonTest, ALineOfAWatchIsParsed) {
  const auto news = coder.read_news(news_line);
  ASSERT_TRUE(news) << news;
  EXPECT_FALSE(news->is_beginning);
  EXPECT_FALSE(news->is_part);
  EXPECT_EQ(news->revision, 12u);
  ASSERT_THAT(news->changes, SizeIs(2));
  EXPECT_FALSE(news->changes[0].is_removed);
  EXPECT_EQ(news->changes[0].entry.key, "a");
  EXPECT_EQ(news->changes[0].entry.value, "2");
  EXPECT_EQ(news->changes[0].entry.modified_at, 11u);
  EXPECT_TRUE(news->changes[1].is_removed);
  EXPECT_EQ(news->changes[1].entry.key, "b");
  EXPECT_EQ(news->changes[1].entry.modified_at, 12u);

  EXPECT_TRUE(
      coder.read_news(R"({"result":{"header":{"revision":"1"},"created":true}})")->is_beginning);
  EXPECT_TRUE(
      coder.read_news(R"({"result":{"header":{"revision":"1"},"fragment":true}})")->is_part);
}

// The error of a failed answer.
Error failure_of(unsigned status, std::string_view body) {
  const auto checked = check_etcd_answer(status, body);
  return checked ? Error(Code::unknown, "none") : checked.error();
}

std::string error_body(std::string_view message, int code) {
  return json{{"error", message}, {"message", message}, {"code", code}}.dump();
}

// grpc-gateway 2 writes no "error" field.
std::string error_body_of_gateway_2(std::string_view message, int code) {
  return json{{"code", code}, {"message", message}}.dump();
}

TEST(EtcdJsonTest, AnswersWithoutAnErrorAreAccepted) {
  EXPECT_TRUE(check_etcd_answer(200, range_answer));
  EXPECT_TRUE(check_etcd_answer(200, news_line));
  EXPECT_TRUE(check_etcd_answer(200, ""));
}

TEST(EtcdJsonTest, ErrorsHaveTheCodesOfEtcd) {
  struct Case {
    unsigned status;
    std::string body;
    Code code;
    bool maybe_executed;
  };
  for (const auto& [status, body, code, maybe_executed] : std::vector<Case>{
           {404, error_body("etcdserver: requested lease not found", 5), Code::not_found, false},
           {400, error_body("etcdserver: user name is empty", 3), Code::unauthenticated, false},
           {400, error_body("etcdserver: authentication failed, invalid user ID or password", 3),
            Code::unauthenticated, false},
           {401, error_body("etcdserver: invalid auth token", 16), Code::unauthenticated, false},
           {403, error_body("etcdserver: permission denied", 7), Code::permission_denied, false},
           {429, error_body("etcdserver: too many requests", 8), Code::resource_exhausted, false},
           {503, error_body("etcdserver: no leader", 14), Code::unavailable, false},
           {503, error_body("etcdserver: request timed out", 14), Code::unavailable, true},
           {500, error_body("context deadline exceeded", 2), Code::unavailable, true},
           {500, error_body("etcdserver: corrupt cluster", 15), Code::data_loss, true},
           {404, error_body_of_gateway_2("etcdserver: requested lease not found", 5),
            Code::not_found, false},
           {400, error_body_of_gateway_2("etcdserver: request is too large", 3),
            Code::invalid_argument, false},
           {400, error_body_of_gateway_2("etcdserver: user name is empty", 3),
            Code::unauthenticated, false},
           {503, error_body_of_gateway_2("etcdserver: no leader", 14), Code::unavailable, false},
           {503, error_body_of_gateway_2("etcdserver: request timed out", 14), Code::unavailable,
            true},
           {503, "", Code::unavailable, true},
           {404, "Not Found\n", Code::unimplemented, false},
           {400, "Client sent an HTTP request to an HTTPS server.\n", Code::unavailable, true},
           {200, R"({"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}})",
            Code::unavailable, false},
           {404, R"({"error":{"code":5,"message":"etcdserver: requested lease not found"}})",
            Code::not_found, false},
           {200, R"({"result":{"canceled":true,"compact_revision":"20"}})", Code::out_of_range,
            false},
           {200,
            R"({"result":{"created":true,"canceled":true,"cancel_reason":"rpc error: code = )"
            R"(PermissionDenied desc = etcdserver: permission denied"}})",
            Code::permission_denied, false},
           {200, R"({"result":{"canceled":true}})", Code::unavailable, true},
       }) {
    const Error error = failure_of(status, body);
    EXPECT_EQ(error.code(), code) << error;
    EXPECT_EQ(error.maybe_executed(), maybe_executed) << error;
    EXPECT_THAT(error.message(), HasSubstr("etcd"));
  }
}

TEST(EtcdJsonTest, RecognisesTokenErrors) {
  for (const char* message :
       {"etcdserver: invalid auth token", "etcdserver: user name is empty",
        "etcdserver: revision of auth store is old",
        "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"}) {
    EXPECT_TRUE(is_etcd_token_refused(failure_of(400, error_body(message, 3)))) << message;
  }
  const Error wrong_password =
      failure_of(400, error_body("etcdserver: authentication failed, invalid user ID", 3));
  EXPECT_FALSE(is_etcd_token_refused(wrong_password));
  EXPECT_FALSE(is_etcd_without_users(wrong_password));
  EXPECT_TRUE(is_etcd_without_users(
      failure_of(412, error_body("etcdserver: authentication is not enabled", 9))));
}

TEST(EtcdJsonTest, AMeaninglessAnswerIsAnError) {
  for (const char* text :
       {"", "x", "[]", "{}", "null", R"({"header":1})", R"({"header":{"revision":"x"}})",
        R"({"header":{"revision":-1}})", R"({"result":[]})", R"({"result":{"TTL":"1x"}})",
        R"({"result":{"header":{"revision":"1"},"events":[{}]}})",
        R"({"result":{"header":{"revision":"1"},"events":[{"kv":{"key":"!"}}]}})",
        R"({"header":{"revision":"1"},"kvs":[1]})",
        // A key outside of our prefix.
        R"({"header":{"revision":"1"},"kvs":[{"key":"L2QvYQ=="}]})", R"({"ID":"0"})"}) {
    EXPECT_THAT(EtcdJson::read_token(text), fails_with(Code::internal)) << text;
    EXPECT_THAT(EtcdJson::read_grant(text), fails_with(Code::internal)) << text;
    EXPECT_THAT(coder.read_news(text), fails_with(Code::internal)) << text;
    if (!std::string_view(text).contains("kvs")) {
      EXPECT_THAT(EtcdJson::read_commit(text), fails_with(Code::internal)) << text;
    }
    EXPECT_THAT(coder.read_list(text), fails_with(Code::internal)) << text;
  }
  EXPECT_THAT(EtcdJson::read_keep_alive(R"({"result":{"TTL":"1x"}})"), fails_with(Code::internal));
}

TEST(EtcdJsonTest, ADamagedAnswerIsReadOrRefused) {
  test::Random random;
  constexpr std::string_view pieces[] = {"{",    "}",          "[",         "]",           "\"",
                                         ":",    ",",          "\\",        "0",           "\xff",
                                         "null", "\"header\"", "\"error\"", "\"canceled\""};
  const int round_count = test::under_slow_watch() ? 400 : 2'000;
  int read_count = 0;
  int refused_count = 0;
  // Whether the answer was read, or refused as unreadable.
  const auto is_sound = [&](const auto& read) {
    ++(read ? read_count : refused_count);
    return read || read.error().code() == Code::internal;
  };
  for (const std::string_view answer : {range_answer, news_line}) {
    for (int round = 0; round < round_count; ++round) {
      std::string text(answer);
      for (std::uint64_t count = 1 + random.below(3); count > 0; --count) {
        const std::string_view piece = pieces[random.below(std::size(pieces))];
        text.replace(random.below(text.size()), random.below(20), piece);
      }
      ASSERT_TRUE(is_sound(coder.read_list(text))) << text;
      ASSERT_TRUE(is_sound(EtcdJson::read_commit(text))) << text;
      ASSERT_TRUE(is_sound(EtcdJson::read_keep_alive(text))) << text;
      // A line of a watch may also report its end.
      const auto news = coder.read_news(text);
      ASSERT_TRUE(is_sound(news) || news.error().code() == Code::unavailable) << text;
      ASSERT_FALSE(check_etcd_answer(503, text)) << "a refusal in whatever words: " << text;
    }
  }
  EXPECT_GT(read_count, round_count / 20);
  EXPECT_GT(refused_count, round_count / 20);
}

}  // namespace
}  // namespace corolane::framework::detail
