// SPDX-License-Identifier: MIT
#include "framework/directory/detail/etcd_json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "coroutine/base/encoding.h"
#include "coroutine/base/text.h"
#include "net/crypto.h"
#include "net/stream.h"

namespace corolane::framework::detail {
namespace {

using nlohmann::json;
using Condition = Directory::Condition;

// The part of an unreadable answer that an error shows.
constexpr std::size_t shown_bytes_max = 200;

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The range of all keys with the prefix: from the prefix to the first key after them. A zero byte
// means the first key of all, or no upper bound.
json range_of(const std::string& prefix) {
  const std::string zero(1, '\0');
  std::string end = prefix;
  while (end.ends_with('\xff')) end.pop_back();
  if (!end.empty()) ++end.back();
  return {{"key", to_base64(prefix.empty() ? zero : prefix)},
          {"range_end", to_base64(end.empty() ? zero : end)}};
}

Error strange(std::string_view answer) {
  return Error(Code::internal,
               "unexpected answer of etcd: " + quote(answer.substr(0, shown_bytes_max)));
}

// --- Reading: a missing value is zero, and an invalid one is nothing
// -------------------------------

std::optional<json> read_object(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return {};
  return value;
}

std::optional<std::uint64_t> number_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  if (!found->is_string()) return {};
  const auto& text = found->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return number;
}

bool flag_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// An array; empty when it is missing or not an array.
json list_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : json::array();
}

std::optional<std::uint64_t> revision_in(const json& answer) {
  const auto header = answer.find("header");
  if (header == answer.end() || !header->is_object()) return {};
  return number_in(*header, "revision");
}

// Strips the prefix, which all requested keys have.
std::optional<Directory::Entry> entry_of(const json& kv, std::string_view key_prefix) {
  if (!kv.is_object()) return {};
  const auto key = from_base64(text_in(kv, "key"));
  auto value = from_base64(text_in(kv, "value"));
  const auto created_at = number_in(kv, "create_revision");
  const auto modified_at = number_in(kv, "mod_revision");
  if (!key || !key->starts_with(key_prefix) || !value || !created_at || !modified_at) return {};
  return Directory::Entry{.key = key->substr(key_prefix.size()),
                          .value = *std::move(value),
                          .created_at = *created_at,
                          .modified_at = *modified_at};
}

std::optional<Directory::Change> change_of(const json& event, std::string_view key_prefix) {
  if (!event.is_object() || !event.contains("kv")) return {};
  auto entry = entry_of(event["kv"], key_prefix);
  if (!entry) return {};
  return Directory::Change{.entry = *std::move(entry),
                           .is_removed = text_in(event, "type") == "DELETE"};
}

// --- Failures ---------------------------------------------------------------------------------

// Errors that etcd's numeric codes do not distinguish: see rpctypes/error.go in its sources.
struct Saying {
  std::string_view text;
  Code code;
};
constexpr std::string_view no_leader = "etcdserver: no leader";
constexpr std::string_view invalid_token = "etcdserver: invalid auth token";
constexpr std::string_view no_token = "etcdserver: user name is empty";
constexpr std::string_view old_token = "etcdserver: revision of auth store is old";
constexpr std::string_view no_users = "etcdserver: authentication is not enabled";
constexpr Saying sayings[] = {
    {invalid_token, Code::unauthenticated},
    {no_token, Code::unauthenticated},
    {old_token, Code::unauthenticated},
    {"etcdserver: authentication failed", Code::unauthenticated},
    {"etcdserver: permission denied", Code::permission_denied},
};

bool is_refusal(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::not_found:
    case Code::permission_denied:
    case Code::resource_exhausted:
    case Code::failed_precondition:
    case Code::out_of_range:
    case Code::unimplemented:
    case Code::unauthenticated:
      return true;
    default:
      return false;
  }
}

Error failure(Code code, const std::string& message) {
  for (const Saying& saying : sayings) {
    if (message.contains(saying.text)) code = saying.code;
  }
  // A timeout within etcd, or an unknown error.
  if (code == Code::unknown || code == Code::deadline_exceeded || code == Code::cancelled) {
    code = Code::unavailable;
  }
  Error error(code, message.starts_with("etcd") ? message : "etcd: " + message);
  if (is_refusal(code) || message.contains(no_leader)) return error;
  return std::move(error).with_maybe_executed();
}

// Reads the end of a watch by etcd: {"result":{"canceled":true,"cancel_reason":"why"}}.
std::optional<Error> cancellation_in(const json& answer) {
  const auto result = answer.find("result");
  if (result == answer.end() || !result->is_object() || !flag_in(*result, "canceled")) return {};
  const auto compacted = number_in(*result, "compact_revision");
  if (compacted.value_or(0) == 0) {
    return failure(Code::unavailable, text_in(*result, "cancel_reason"));
  }
  return Error(Code::out_of_range, "etcd has forgotten changes before revision " +
                                       std::to_string(*compacted) + "; list it again");
}

// Reads {"code":5,"message":"why"}, or {"error":{"code":5,"message":"why"}} in a stream. An etcd
// built with grpc-gateway 1, as 3.4 is, repeats the message as "error", and says "grpc_code" in a
// stream.
std::optional<Error> failure_in(const json& answer) {
  const auto found = answer.find("error");
  const bool has_error = found != answer.end();
  if (!has_error && !(answer.contains("code") && answer.contains("message"))) {
    return cancellation_in(answer);
  }
  const json& details = has_error && found->is_object() ? *found : answer;
  const auto code = number_in(details, details.contains("grpc_code") ? "grpc_code" : "code");
  return failure(code_from_number(static_cast<std::uint32_t>(code.value_or(0))),
                 text_in(details, "message"));
}

Code code_of_status(unsigned status) {
  switch (status) {
    case 401:
      return Code::unauthenticated;
    case 403:
      return Code::permission_denied;
    case 404:
      return Code::unimplemented;
    default:
      return Code::unavailable;
  }
}

}  // namespace

Result<void> check_etcd_answer(unsigned status, std::string_view body) {
  // Most answers report no failure and need not be parsed twice.
  if (status == 200 && !body.contains(R"("error")") && !body.contains(R"("canceled")")) return {};
  if (const auto answer = read_object(body)) {
    if (auto failed = failure_in(*answer)) return *std::move(failed);
    if (status == 200) return {};
  }
  return failure(code_of_status(status), "status " + std::to_string(status) + ", " +
                                             quote(body.substr(0, shown_bytes_max)));
}

bool is_etcd_token_refused(const Error& error) {
  return std::ranges::any_of(std::initializer_list{invalid_token, no_token, old_token},
                             [&](auto text) { return error.message().contains(text); });
}

bool is_etcd_without_users(const Error& error) { return error.message().contains(no_users); }

// --- Requests ---------------------------------------------------------------------------------

std::string EtcdJson::key_text(std::string_view key) const {
  return to_base64(key_prefix_ + std::string(key));
}

std::string EtcdJson::authenticate(std::string_view user, std::string_view password) {
  return text_of({{"name", user}, {"password", password}});
}

std::string EtcdJson::grant(std::chrono::seconds time_to_live) {
  return text_of({{"TTL", std::to_string(time_to_live.count())}});
}

std::string EtcdJson::lease(Directory::Lease lease) {
  return text_of({{"ID", std::to_string(lease)}});
}

std::string EtcdJson::list(std::string_view prefix, Directory::Revision since) const {
  json range = range_of(key_prefix_ + std::string(prefix));
  if (since > 0) range["min_mod_revision"] = std::to_string(since + 1);
  return text_of(range);
}

// A transaction without conditions reads several keys at one revision.
std::string EtcdJson::read(std::span<const std::string> keys) const {
  json success = json::array();
  for (const std::string_view key : std::set<std::string_view>(keys.begin(), keys.end())) {
    success.push_back({{"request_range", {{"key", key_text(key)}}}});
  }
  return text_of({{"compare", json::array()}, {"success", std::move(success)}});
}

std::string EtcdJson::commit(const Directory::Transaction& transaction) const {
  json compare = json::array();
  for (const Condition& condition : transaction.conditions) {
    const bool is_creation = condition.field == Condition::Field::created_at;
    compare.push_back(
        {{"key", key_text(condition.key)},
         {"target", is_creation ? "CREATE" : "MOD"},
         {"result", condition.is_equal ? "EQUAL" : "NOT_EQUAL"},
         {is_creation ? "create_revision" : "mod_revision", std::to_string(condition.revision)}});
  }
  json success = json::array();
  for (const Directory::Put& put : transaction.puts) {
    success.push_back({{"request_put",
                        {{"key", key_text(put.key)},
                         {"value", to_base64(put.value)},
                         {"lease", std::to_string(put.lease)}}}});
  }
  for (const std::string& key : transaction.removals) {
    success.push_back({{"request_delete_range", {{"key", key_text(key)}}}});
  }
  return text_of({{"compare", std::move(compare)}, {"success", std::move(success)}});
}

std::string EtcdJson::watch(std::string_view prefix, Directory::Revision from) const {
  json request = range_of(key_prefix_ + std::string(prefix));
  request["start_revision"] = std::to_string(from);
  request["progress_notify"] = true;
  request["fragment"] = true;
  return text_of({{"create_request", std::move(request)}});
}

// --- Answers ----------------------------------------------------------------------------------

Result<std::string> EtcdJson::read_token(std::string_view text) {
  const auto answer = read_object(text);
  std::string token = answer ? text_in(*answer, "token") : "";
  if (token.empty()) return Error(Code::internal, "etcd returned no token");
  return token;
}

Result<Directory::Lease> EtcdJson::read_grant(std::string_view text) {
  const auto answer = read_object(text);
  const auto lease = answer ? number_in(*answer, "ID") : std::nullopt;
  if (!lease || *lease == 0) return strange(text);
  return *lease;
}

Result<bool> EtcdJson::read_keep_alive(std::string_view text) {
  const auto answer = read_object(text);
  if (!answer || !answer->contains("result") || !(*answer)["result"].is_object()) {
    return strange(text);
  }
  const auto time_to_live = number_in((*answer)["result"], "TTL");
  if (!time_to_live) return strange(text);
  return *time_to_live > 0;
}

Result<Directory::Snapshot> EtcdJson::read_list(std::string_view text) const {
  auto recent = read_list_since(text);
  if (!recent) return recent.error();
  return Directory::Snapshot{.revision = recent->revision, .entries = std::move(recent->entries)};
}

Result<Directory::Recent> EtcdJson::read_list_since(std::string_view text) const {
  const auto answer = read_object(text);
  const auto revision = answer ? revision_in(*answer) : std::nullopt;
  const auto count = answer ? number_in(*answer, "count") : std::nullopt;
  if (!revision || !count) return strange(text);
  Directory::Recent recent{.revision = *revision, .entry_count = *count};
  for (const json& kv : list_in(*answer, "kvs")) {
    auto entry = entry_of(kv, key_prefix_);
    if (!entry) return strange(text);
    recent.entries.push_back(*std::move(entry));
  }
  return recent;
}

Result<Directory::Snapshot> EtcdJson::read_entries(std::string_view text) const {
  const auto answer = read_object(text);
  const auto revision = answer ? revision_in(*answer) : std::nullopt;
  if (!revision) return strange(text);
  Directory::Snapshot snapshot{.revision = *revision};
  for (const json& part : list_in(*answer, "responses")) {
    if (!part.is_object() || !part.contains("response_range")) return strange(text);
    for (const json& kv : list_in(part["response_range"], "kvs")) {
      auto entry = entry_of(kv, key_prefix_);
      if (!entry) return strange(text);
      snapshot.entries.push_back(*std::move(entry));
    }
  }
  return snapshot;
}

Result<Directory::Outcome> EtcdJson::read_commit(std::string_view text) {
  const auto answer = read_object(text);
  const auto revision = answer ? revision_in(*answer) : std::nullopt;
  if (!revision) return strange(text);
  return Directory::Outcome{.is_done = flag_in(*answer, "succeeded"), .revision = *revision};
}

Result<EtcdNews> EtcdJson::read_news(std::string_view text) const {
  const auto line = read_object(text);
  if (!line) return strange(text);
  if (auto failed = failure_in(*line)) return *std::move(failed);
  const auto result = line->find("result");
  if (result == line->end() || !result->is_object()) return strange(text);
  EtcdNews news{.is_beginning = flag_in(*result, "created"),
                .is_part = flag_in(*result, "fragment")};
  const auto revision = revision_in(*result);
  if (!revision) return strange(text);
  news.revision = *revision;
  for (const json& event : list_in(*result, "events")) {
    auto change = change_of(event, key_prefix_);
    if (!change) return strange(text);
    news.changes.push_back(*std::move(change));
  }
  return news;
}

}  // namespace corolane::framework::detail
