// SPDX-License-Identifier: MIT
// Objects in a Redis that all nodes of a cluster share, or in several.
//
//   RedisStore store(network, {.endpoints = {{"redis.example", 6379}}, .password = password});
//
// Each shard has its own store with one connection to each server, on which any number of calls are
// in flight and are answered in order. It connects at the first call. When the connection is lost,
// the calls in flight fail at once with an unknown outcome, and the store reconnects by itself. New
// calls wait for that; they fail at once when the server is unreachable for longer.
//
// With n servers, partition p belongs to the server at position (p mod 1,024) mod n, where the
// first has position 0. Each server has all keys of its partitions. The first one also has what
// belongs to no partition, so next_epoch() and note_directory() need it; all other calls need only
// the server of their partition. A server whose mark shows that it is not the one at this position
// is not used (failed_precondition).
//
// An object that was never written has a key only while it is active. The keys that a crashed node
// leaves behind are forgotten after an hour.
//
// Writes survive a crash of the server only with `appendonly yes` and `appendfsync always` in its
// configuration. Replication is asynchronous, so a promoted replica may lack the last writes; the
// owner notices when its next write is refused.
//
// The keys of a partition share a hash tag, the remainder of its number by 1,024, and therefore a
// slot of a Redis Cluster. The members of one have no marks; the store follows their redirections.
// With the default prefix, for the object "alice" of type "chess.Player" in partition 17, epochs as
// 20 decimal digits; in partition 1,041 the keys begin with corolane:{17}:1041:
//
//    corolane:server                         a hash, the mark: `server` and `servers`, as in "1 of
//                                            3", `store` and `id`, random; `known` once the first
//                                            server has listed the id
//    corolane:servers                        on the first server, a hash: the id of each server by
//                                            its number, from 1
//    corolane:epoch                          the last result of next_epoch()
//    corolane:directory                      a hash: `partitions`, their number, unless it is that
//                                            of former builds; `id`, `revision` and `generation` of
//                                            the noted directory, the last two as 20 decimal
//                                            digits. With more than 1,024 partitions `id` ends with
//                                            " in 4096 partitions": former builds keep out
//    corolane:{17}:object:chess.Player:alice a hash: `epoch`; and, once it was written, `version`
//                                            in decimal and `state`, the bytes; `destroyed` in a
//                                            tombstone, the version that it has
//    corolane:{17}:due                       a sorted set: "chess.Player:alice" by its wake_at, in
//                                            milliseconds since 1970, UTC
//    corolane:{17}:empty                     the same with the objects whose keys hold nothing, by
//                                            the time at which they may go
//    corolane:{17}:room                      a number, increased to try whether there is room
//    corolane:{17}:floor                     a hash: `epoch`, the latest of a key that has gone
//
// Belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::framework {

namespace detail {
class RedisPlaces;
class RedisScript;
struct RedisReply;
}  // namespace detail

class RedisStore : public Store {
 public:
  struct Options {
    // The servers, at least one; the same ones in the same order as long as the objects exist.
    std::vector<net::HostPort> endpoints = {{.host = "127.0.0.1", .port = 6379}};
    // The servers are members of one Redis Cluster, any of them; the store learns of the others.
    bool is_cluster = false;
    std::string user = {};       // An ACL user; empty: "default".
    std::string password = {};   // Empty: none.
    std::uint32_t database = 0;  // A cluster has no other.
    std::string key_prefix = "corolane:";

    // The limit of calls in flight or waiting for the connection, including those whose tasks have
    // given up.
    std::size_t pending_count_max = 16'384;
    // With more unsent output calls are refused, for example when many large states are written at
    // once.
    std::size_t output_bytes_max = 64 * 1024 * 1024;
    // A longer reply breaks the connection.
    std::size_t reply_bytes_max = 64 * 1024 * 1024;
    // For one attempt, including authentication.
    std::chrono::milliseconds connect_time_max{5'000};
    // Between attempts: doubles from the minimum to the maximum, with jitter over the upper half.
    std::chrono::milliseconds reconnect_delay_min{20};
    std::chrono::milliseconds reconnect_delay_max{2'000};
    // How long calls wait for a lost connection; after that they fail at once until it is back.
    std::chrono::milliseconds unreachable_after{3'000};
    // A server that is silent for longer while calls are in flight counts as lost.
    std::chrono::milliseconds silence_max{10'000};
    std::uint64_t random_seed = 0;  // For the random delays; 0: from the system.
  };

  // `network` outlives it.
  RedisStore(net::Network& network, Options options);
  // No call may be in progress. Suspends until its own task has ended.
  ~RedisStore() override;

  // Fail also with unauthenticated or permission_denied when the server rejects us, with
  // failed_precondition when it has another mark, with data_loss when a key of ours holds something
  // else, and with invalid_argument for a type with a colon in its name.
  Result<std::size_t> partition_count(std::size_t wanted, Deadline deadline) override;
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<void> try_room(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  Result<std::size_t> forget(Partition partition, WallTime now, std::size_t count_max,
                             Deadline deadline) override;
  Result<DirectoryMark> note_directory(const DirectoryMark& mark, const NoteOptions& options,
                                       Deadline deadline) override;
  bool is_shared() const override { return true; }
  std::string name() const override;

 private:
  struct Keys;

  // A place as in detail/redis_places.h.
  Result<detail::RedisReply> call(std::uint16_t place, std::span<const std::string_view> words,
                                  Deadline deadline);
  Result<detail::RedisReply> run(std::uint16_t place, const detail::RedisScript& script,
                                 std::span<const std::string_view> words, Deadline deadline);
  Error not_ours(std::uint16_t place, std::string_view key) const;

  std::string epoch_key() const { return key_prefix_ + "epoch"; }
  std::string partition_key(Partition partition, std::string_view rest) const;
  Result<Keys> keys_of(const ObjectKey& key) const;

  const std::string key_prefix_;
  const WallClock clock_;
  const std::unique_ptr<detail::RedisPlaces> places_;
};

}  // namespace corolane::framework
