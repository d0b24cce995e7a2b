// SPDX-License-Identifier: MIT
// Requests and answers of etcd in the JSON of its gateway
// (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/).
//
// Keys and values are in base64, and 64-bit numbers are strings. Zero, false and empty values are
// omitted.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"

namespace corolane::framework::detail {

// One line of a watch.
struct EtcdNews {
  std::vector<Directory::Change> changes = {};
  // The watch has begun; the line has no changes.
  bool is_beginning = false;
  // More changes of the same revision follow.
  bool is_part = false;
  // In a line without changes that is no beginning: all changes up to this revision have been
  // delivered.
  Directory::Revision revision = 0;
};

// Writes the bodies of requests and reads those of answers. An unreadable answer is Code::internal.
class EtcdJson {
 public:
  // `key_prefix` is added to all keys in etcd; keys in this interface lack it.
  explicit EtcdJson(std::string key_prefix) : key_prefix_(std::move(key_prefix)) {}

  static std::string authenticate(std::string_view user, std::string_view password);
  static std::string grant(std::chrono::seconds time_to_live);
  static std::string lease(Directory::Lease lease);  // To revoke or renew it.
  std::string list(std::string_view prefix, Directory::Revision since = 0) const;
  std::string read(std::span<const std::string> keys) const;
  std::string commit(const Directory::Transaction& transaction) const;
  std::string watch(std::string_view prefix, Directory::Revision from) const;

  static Result<std::string> read_token(std::string_view text);
  static Result<Directory::Lease> read_grant(std::string_view text);
  // False when there is no such lease.
  static Result<bool> read_keep_alive(std::string_view text);
  Result<Directory::Snapshot> read_list(std::string_view text) const;
  Result<Directory::Recent> read_list_since(std::string_view text) const;
  // The answer to read(), by key.
  Result<Directory::Snapshot> read_entries(std::string_view text) const;
  static Result<Directory::Outcome> read_commit(std::string_view text);
  // Fails with the error of the watch.
  Result<EtcdNews> read_news(std::string_view text) const;

 private:
  std::string key_text(std::string_view key) const;  // With prefix, in base64.

  const std::string key_prefix_;
};

// Returns the failure that an answer, or the first line of a watch, reports. The error has
// maybe_executed unless etcd has rejected the request itself.
Result<void> check_etcd_answer(unsigned status, std::string_view body);

// Whether the request was refused for lack of a valid token.
bool is_etcd_token_refused(const Error& error);
// Whether authentication is disabled in etcd.
bool is_etcd_without_users(const Error& error);

}  // namespace corolane::framework::detail
