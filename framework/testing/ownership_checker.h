// The invariants of ownership (framework/README.md), looked at while a simulation goes on, by who
// sees everything: what owners reply, what the store does, and what callers are told.
//
//   I1  a reply leaves an object while the directory has its owner as such, and no other node
//       replies under the same epoch
//   I2  the epoch of an object's accepted writes never falls, the version grows by one
//   I3  what a durable call has changed is stored when it is answered, and stays
//   I4  a request id takes effect once, also when the object has forgotten that it did
//   I7  who asks after an answer under an epoch is not answered under an earlier one
//   I8  who replies knows what was stored before it became the owner, and who asks after an answer
//       that knew a version is not told of an earlier one
//
// I5, that sums are conserved, is a matter of the state; I6, that all answer when faults have
// stopped, of who ends them: both are said as invariants of a cluster (cluster.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/cluster/witness.h"
#include "framework/routing/remote_router.h"
#include "framework/testing/store_server.h"
#include "framework/wire/objects.pb.h"
#include "framework/wire/partition.h"

namespace corolane::sim {

class OwnershipChecker final : public StoreWitness {
 public:
  // Who owns the objects of a partition now: the revision of its entry in the directory, or 0 when
  // nobody does or their lease has ended.
  using OwnerOf = std::function<std::uint64_t(framework::Partition partition)>;
  using Report = std::function<void(std::string violation)>;

  struct Statistics {
    std::uint64_t reply_count = 0;
    std::uint64_t write_count = 0;
    std::uint64_t seal_count = 0;
    std::uint64_t call_count = 0;  // That were answered.
  };

  OwnershipChecker(OwnerOf owner_of, Report report)
      : owner_of_(std::move(owner_of)), report_(std::move(report)) {}

  // `process` is a life of a node: no other one has its number.
  void on_reply(std::uint64_t process, const framework::OwnerReply& reply);
  void on_sealed(const framework::ObjectKey& key, std::uint64_t epoch) override;
  void on_written(const framework::ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                  std::string_view bytes) override;
  // Calls of one clock.
  void on_call(const framework::CallRecord& record);

  const Statistics& statistics() const { return statistics_; }

 private:
  using RequestId = std::pair<std::string, std::uint64_t>;
  struct Seen {  // By a reply.
    std::uint64_t epoch = 0;
    std::uint64_t version = 0;
  };
  struct Heard {  // Until then, the highest.
    TimePoint end;
    Seen highest;
  };
  struct Applied {  // Of one caller: its last request that took effect, and when.
    std::uint64_t last = 0;
    std::int64_t time_milliseconds = 0;
  };
  struct Object {
    std::uint64_t replied_epoch = 0;
    std::uint64_t replied_by = 0;     // The process.
    std::uint64_t written_epoch = 0;  // Or sealed by.
    std::uint64_t version = 0;
    std::uint64_t version_epoch = 0;  // By which that version was written.
    std::map<std::string, Applied, std::less<>> callers;
    std::map<RequestId, std::uint64_t> known;  // The version in which it became so.
    std::map<RequestId, Seen> replies;         // The latest.
    std::vector<Heard> heard;
  };

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
