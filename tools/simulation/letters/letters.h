// SPDX-License-Identifier: MIT
// Users who are sent letters over sessions, by clients as bad as a network can make them: their
// sockets break at any byte, they resume twice at once, show old secrets, and those of other users.
// A letter that was sent comes once and in order, or its reader is told that some are lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coroutine/testing/random.h"
#include "framework/node/node.h"
#include "framework/testing/cluster.h"
#include "framework/testing/simulated_run.h"
#include "tools/simulation/letters/letters.pb.h"
#include "tools/simulation/letters/wire_client.h"

namespace corolane::sim {

class Letters {
 public:
  struct Options {
    std::size_t user_count = 8;
  };

  static void set_up(framework::Node& node);

  // Both outlive it.
  Letters(SimulatedCluster& cluster, SimulatedRun& run, const Options& options);
  ~Letters();
  Letters(const Letters&) = delete;
  Letters& operator=(const Letters&) = delete;

  // Starts the senders and the readers.
  void open();
  // Has each user read the rest, and reports the letters that never came.
  void settle();

 private:
  // What a user has heard, over all connections.
  struct Reader {
    std::string user;
    std::string secret;  // Of the present session; empty: there is none.
    std::uint64_t received_push = 0;
    std::vector<std::string> old_secrets;
    std::uint64_t sent = 0;           // The last letter whose sending has begun.
    std::uint64_t excused = 0;        // The reader knows that some up to this one may be lost.
    std::set<std::uint64_t> pushed;   // Letters whose sending succeeded,
    std::set<std::uint64_t> arrived;  // and those that came.
    std::uint64_t last = 0;           // Of those.
  };

  void send(Reader& reader, std::uint64_t index);
  void read(Reader& reader, std::uint64_t index);
  // One connection: reads for a while, and acknowledges or does not.
  void visit(Reader& reader, test::Random& dice, Duration time);
  // The hello is cut off, or so is what comes after it.
  void visit_briefly(const Reader& reader, test::Random& dice);
  void visit_twice(Reader& reader, test::Random& dice);
  void steal(const Reader& reader, test::Random& dice);
  Result<WireClient> connect(test::Random& dice);
  // Suspends until the server has answered. Fails when it has not, or refuses.
  Result<void> begin(Reader& reader, WireClient& client);
  void take(Reader& reader, const WireClient::Received& received);
  void excuse(Reader& reader);

  SimulatedCluster& cluster_;
  SimulatedRun& run_;
  std::vector<std::unique_ptr<Reader>> readers_;
};

}  // namespace corolane::sim
