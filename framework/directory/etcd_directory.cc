// SPDX-License-Identifier: MIT
#include "framework/directory/etcd_directory.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "framework/directory/detail/etcd_client.h"
#include "framework/directory/detail/etcd_json.h"
#include "framework/directory/detail/transaction.h"

namespace corolane::framework {

EtcdDirectory::EtcdDirectory(net::Network& network, Options options)
    : options_(std::move(options)),
      json_(std::make_unique<detail::EtcdJson>(options_.key_prefix)),
      client_(std::make_unique<detail::EtcdClient>(network, options_)) {
  check(!options_.endpoints.empty(), "an etcd has a member");
}

EtcdDirectory::~EtcdDirectory() = default;

Result<Directory::Lease> EtcdDirectory::grant(std::chrono::seconds time_to_live,
                                              Deadline deadline) {
  // A retry may grant a second lease, which expires by itself.
  const auto answer = client_->call(
      {.path = "/v3/lease/grant", .body = detail::EtcdJson::grant(time_to_live)}, deadline);
  if (!answer) return answer.error();
  return detail::EtcdJson::read_grant(*answer);
}

Result<void> EtcdDirectory::keep_alive(Lease lease, Deadline deadline) {
  const auto answer = client_->call_at_once(
      {.path = "/v3/lease/keepalive", .body = detail::EtcdJson::lease(lease)}, deadline);
  if (!answer) return answer.error();
  const auto is_there = detail::EtcdJson::read_keep_alive(*answer);
  if (!is_there) return is_there.error();
  if (!*is_there) return detail::lease_not_found(lease);
  return {};
}

Result<void> EtcdDirectory::revoke(Lease lease, Deadline deadline) {
  const auto answer =
      client_->call({.path = "/v3/lease/revoke", .body = detail::EtcdJson::lease(lease)}, deadline);
  if (!answer && answer.error().code() != Code::not_found) return answer.error();
  return {};
}

Result<Directory::Snapshot> EtcdDirectory::list(std::string_view prefix, Deadline deadline) {
  const auto answer =
      client_->call({.path = "/v3/kv/range", .body = json_->list(prefix)}, deadline);
  if (!answer) return answer.error();
  return json_->read_list(*answer);
}

Result<Directory::Recent> EtcdDirectory::list_since(std::string_view prefix, Revision since,
                                                    Deadline deadline) {
  const auto answer =
      client_->call({.path = "/v3/kv/range", .body = json_->list(prefix, since)}, deadline);
  if (!answer) return answer.error();
  return json_->read_list_since(*answer);
}

Result<Directory::Snapshot> EtcdDirectory::read(std::span<const std::string> keys,
                                                Deadline deadline) {
  if (auto sound = detail::check_read(keys); !sound) return sound.error();
  const auto answer = client_->call({.path = "/v3/kv/txn", .body = json_->read(keys)}, deadline);
  if (!answer) return answer.error();
  return json_->read_entries(*answer);
}

Result<Directory::Outcome> EtcdDirectory::commit(const Transaction& transaction,
                                                 Deadline deadline) {
  if (auto sound = detail::check_transaction(transaction); !sound) return sound.error();
  const auto answer = client_->call(
      {.path = "/v3/kv/txn", .body = json_->commit(transaction), .is_repeatable = false}, deadline);
  if (!answer) return answer.error();
  auto outcome = detail::EtcdJson::read_commit(*answer);
  if (!outcome) return std::move(outcome.error()).with_maybe_executed();
  return outcome;
}

Result<void> EtcdDirectory::watch(std::string_view prefix, Revision from,
                                  const OnChange& on_change) {
  Revision next = std::max<Revision>(from, 1);
  for (;;) {
    auto lines = client_->watch({.path = "/v3/watch", .body = json_->watch(prefix, next)},
                                Deadline::never());
    if (!lines) return lines.error();
    if (auto followed = follow(*lines, on_change, next); !followed) return followed;
  }
}

Result<void> EtcdDirectory::follow(net::HttpLines& lines, const OnChange& on_change,
                                   Revision& next) const {
  bool is_part = false;
  for (;;) {
    const auto line = lines.next_line(Deadline::after(options_.watch_silence_max));
    if (!line) {
      const Code code = line.error().code();
      if (code == Code::deadline_exceeded && !is_part) return {};
      if (code == Code::cancelled || code == Code::resource_exhausted) return line.error();
      return Error(Code::unavailable, "the watch has ended: " + line.error().message());
    }
    const auto news = json_->read_news(*line);
    if (!news) return news.error();
    for (const Change& change : news->changes) on_change(change);
    is_part = news->is_part;
    if (!news->changes.empty()) {
      next = news->changes.back().entry.modified_at + 1;
    } else if (!news->is_beginning) {
      next = std::max(next, news->revision + 1);
    }
  }
}

std::string EtcdDirectory::name() const {
  std::string name = "etcd";
  for (const net::HostPort& endpoint : options_.endpoints) {
    name += (name == "etcd" ? " " : ", ") +
            to_string(net::Endpoint{.address = endpoint.host, .port = endpoint.port});
  }
  return name;
}

}  // namespace corolane::framework
