// Objects in a Redis that all nodes of a cluster share.
//
//   RedisStore store(network, {.endpoint = {"redis.example", 6379}, .password = password});
//
// Each shard has a store of its own: one connection, on which any number of calls are in flight,
// answered in their order. It connects with the first call. When the connection is lost, what was
// sent on it ends at once as unknown, and it connects again by itself; calls wait for that, and
// fail at once when the server is gone for longer.
//
// A name that was only read has a key while its object is alive. The keys of a node that crashes
// stay until their objects are called again, and let go.
//
// That no crash of the server undoes a write is up to its configuration: `appendonly yes` and
// `appendfsync always`. Replicas follow behind, so the one that takes over may lack the last
// writes; an owner learns of it with its next one, which is refused.
//
// A partition's keys share a hash tag, and so a slot of a cluster. With the default prefix, for the
// object "alice" of type "chess.Player" in partition 17, epochs as 20 decimal digits:
//   corolane:epoch                          the last number of next_epoch()
//   corolane:{17}:object:chess.Player:alice a hash: `epoch`; and, once it was written, `version` in
//                                           decimal and `state`, the bytes
//   corolane:{17}:due                       a sorted set: "chess.Player:alice" by its wake_at, in
//                                           milliseconds since 1970, UTC
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::framework {

namespace detail {
class RedisClient;
}  // namespace detail

class RedisStore : public Store {
 public:
  struct Options {
    net::HostPort endpoint = {.host = "127.0.0.1", .port = 6379};
    std::string user = {};      // Of its ACL; empty for "default".
    std::string password = {};  // Empty for none.
    std::uint32_t database = 0;
    std::string key_prefix = "corolane:";

    // Calls in flight or waiting for the connection, also those whose tasks have given up; one more
    // is refused.
    std::size_t pending_count_max = 16'384;
    // Above so much unsent output calls are refused: many large states at once.
    std::size_t output_bytes_max = 64 * 1024 * 1024;
    // A reply that is longer breaks the connection.
    std::size_t reply_bytes_max = 64 * 1024 * 1024;
    // For one attempt, with the password.
    std::chrono::milliseconds connect_time_max{5'000};
    // Between attempts: doubled from the one to the other, and drawn from the upper half.
    std::chrono::milliseconds reconnect_delay_min{20};
    std::chrono::milliseconds reconnect_delay_max{2'000};
    // Calls wait so long for a connection that is gone; then they fail at once until it is back.
    std::chrono::milliseconds unreachable_after{3'000};
    // A server that says nothing for so long while calls wait for it is gone.
    std::chrono::milliseconds silence_max{10'000};
    std::uint64_t random_seed = 0;  // Of the random delays; 0 takes one from the system.
  };

  // `network` outlives it.
  RedisStore(net::Network& network, Options options);
  // No task is inside of a call. Suspends until its own task has ended.
  ~RedisStore() override;

  // Besides what every store says: unauthenticated and permission_denied when the server does not
  // let us, data_loss when a key of ours holds something else, invalid_argument for a type with a
  // colon in its name.
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  bool is_shared() const override { return true; }
  std::string name() const override;

 private:
  struct Keys;

  std::string partition_key(Partition partition, std::string_view rest) const;
  Result<Keys> keys_of(const ObjectKey& key) const;

  const std::string key_prefix_;
  const std::unique_ptr<detail::RedisClient> client_;
};

}  // namespace corolane::framework
