// SPDX-License-Identifier: MIT
// Checks the invariants of ownership (framework/cluster/README.md) while a simulation runs. It sees
// every reply of an owner, every operation of the store, and every result of a call.
//
//     I1  an owner replies only while the directory names it as the owner, and no other node
//         replies under the same epoch; it calls other objects only while that holds. Without a
//         lease, the store has accepted a seal or a write of its epoch for this reply
//     I2  the epoch of an object's accepted writes never falls, and the version grows by one
//     I3  the changes of a durable call are stored when it is answered, and stay stored
//     I4  a request id takes effect once, even after the object has forgotten it
//     I7  a call made after an answer under an epoch is not answered under an earlier one
//     I8  an owner knows all that was stored before it became the owner, and a call made after an
//         answer at a version is not answered at an earlier one
//
// I5, sums are conserved, depends on the state. I6, all objects answer after the last fault,
// depends on the faults. A test adds both as invariants of a cluster (cluster.h).
//
//   for (const std::string& violation : cluster.violations()) std::cout << violation << '\n';
//   EXPECT_GT(cluster.checker().statistics().reply_count, 0U);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/client/call_observer.h"
#include "framework/cluster/witness.h"
#include "framework/testing/store_server.h"
#include "framework/wire/objects.pb.h"
#include "framework/wire/partition.h"

namespace corolane::sim {

class OwnershipChecker final : public StoreWitness {
 public:
  // Returns the revision by which a partition is owned now, from the directory; 0 when it has no
  // owner or the owner's lease has expired.
  using OwnerOf = std::function<std::uint64_t(framework::Partition partition)>;
  using Report = std::function<void(std::string violation)>;

  struct Statistics {
    std::uint64_t reply_count = 0;
    std::uint64_t write_count = 0;
    std::uint64_t seal_count = 0;
    std::uint64_t call_count = 0;  // Answered calls.
  };

  OwnershipChecker(OwnerOf owner_of, Report report)
      : owner_of_(std::move(owner_of)), report_(std::move(report)) {}

  // `process` identifies a life of a node.
  void on_reply(std::uint64_t process, const framework::OwnerReply& reply);
  void on_call_out(const framework::OwnerCall& call);
  void on_sealed(const framework::ObjectKey& key, std::uint64_t epoch) override;
  void on_written(const framework::ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                  std::string_view bytes) override;
  // Nothing holds for what the store has lost: requests may take effect again, and later versions
  // have earlier numbers. All other changes stay stored.
  void on_set_back(const framework::MemoryStore& table) override;
  // All records have times of the same clock.
  void on_call(const framework::CallRecord& record);

  const Statistics& statistics() const { return statistics_; }
  // How many requests have taken effect on an object and were not lost.
  std::size_t request_count(const framework::ObjectKey& key) const;

 private:
  using RequestId = std::pair<std::string, std::uint64_t>;
  struct Seen {  // The state that a reply reflects.
    std::uint64_t epoch = 0;
    std::uint64_t version = 0;
  };
  struct Heard {  // The highest of all answers until `end`.
    TimePoint end;
    Seen highest;
  };
  struct Applied {  // The last applied request of a caller, and its time.
    std::uint64_t last = 0;
    std::int64_t time_milliseconds = 0;
  };
  struct Object {
    std::uint64_t replied_epoch = 0;
    std::uint64_t replied_by = 0;                    // The process.
    std::map<std::uint64_t, std::uint64_t> answers;  // By epoch: seals not used by a reply.
    std::uint64_t written_epoch = 0;                 // The epoch of the last write or seal.
    std::uint64_t version = 0;
    std::uint64_t version_epoch = 0;  // The epoch that wrote `version`.
    std::map<std::string, Applied, std::less<>> callers;
    std::map<RequestId, std::uint64_t> known;  // The version in which each took effect.
    std::set<RequestId> lost;                  // Those that the store has lost, and their replies.
    bool was_set_back = false;
    std::map<RequestId, Seen> replies;  // The latest of each.
    std::vector<Heard> heard;
  };

  static bool take_answer(Object& object, std::uint64_t epoch);
  void check_by_lease(const std::string& name, const Object& object,
                      const framework::OwnerReply& reply);
  void reach(const std::string& name, Object& object, std::uint64_t epoch, std::string_view what);
  void learn_requests(const std::string& name, Object& object, std::string_view bytes);
  void find_forgotten(const std::string& name, Object& object,
                      const framework::ObjectRecord& record);
  void violated(std::string_view invariant, const std::string& name, const std::string& what) {
    report_(std::string(invariant) + " " + name + ": " + what);
  }

  const OwnerOf owner_of_;
  const Report report_;
  Statistics statistics_;
  std::map<std::string, Object, std::less<>> objects_;  // By "package.Counter id".
};

}  // namespace corolane::sim
