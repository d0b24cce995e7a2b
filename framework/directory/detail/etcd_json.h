// What is said to an etcd, and what it says: the JSON of its gateway
// (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/).
//
// Keys and values are base64 there, and long numbers are text. What is zero, false or empty is left
// out.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"

namespace corolane::framework::detail {

// A line of a watch.
struct EtcdNews {
  std::vector<Directory::Change> changes = {};
  // The watch begins, and nothing else.
  bool is_beginning = false;
  // More of the same revision follows.
  bool is_part = false;
  // Without changes and no beginning: all of them up to this one were told.
  Directory::Revision revision = 0;
};

// The bodies of requests, and what stands in those of their answers. An answer that cannot be
// understood is Code::internal.
class EtcdJson {
 public:
  // Stands before all keys of an etcd, and before none of ours.
  explicit EtcdJson(std::string key_prefix) : key_prefix_(std::move(key_prefix)) {}

  static std::string authenticate(std::string_view user, std::string_view password);
  static std::string grant(std::chrono::seconds time_to_live);
  static std::string lease(Directory::Lease lease);  // To revoke it, or keep it alive.
  std::string list(std::string_view prefix) const;
  std::string commit(const Directory::Transaction& transaction) const;
  std::string watch(std::string_view prefix, Directory::Revision from) const;

  static Result<std::string> read_token(std::string_view text);
  static Result<Directory::Lease> read_grant(std::string_view text);
  // False when there is no such lease.
  static Result<bool> read_keep_alive(std::string_view text);
  Result<Directory::Snapshot> read_list(std::string_view text) const;
  static Result<Directory::Outcome> read_commit(std::string_view text);
  // Fails as the watch did.
  Result<EtcdNews> read_news(std::string_view text) const;

 private:
  std::string key_text(std::string_view key) const;  // Of one of ours, as etcd has it.

  const std::string key_prefix_;
};

// The failure that an answer, or the first line of a watch, tells of, if it is one. It says
// maybe_executed unless etcd has refused the request as such.
Result<void> check_etcd_answer(unsigned status, std::string_view body);

// Whether it was refused for the lack of a token that is good today.
bool is_etcd_token_refused(const Error& error);
// Whether etcd does not want any.
bool is_etcd_without_users(const Error& error);

}  // namespace corolane::framework::detail
