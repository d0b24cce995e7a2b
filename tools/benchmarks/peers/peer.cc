// SPDX-License-Identifier: MIT
// The list of peers.
#include "tools/benchmarks/peers/peer.h"

namespace corolane::bench {

std::vector<const Peer*> cpp_peers() {
  std::vector<const Peer*> peers{&fcontext_peer, &fcontext_tuned_peer, &fcontext_direct_peer,
                                 &ucontext_peer, &cpp20_peer};
#if defined(COROLANE_BENCH_BOOST_FIBER)
  peers.push_back(&boost_fiber_peer);
#endif
  return peers;
}

}  // namespace corolane::bench
