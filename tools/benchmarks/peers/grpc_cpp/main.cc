// SPDX-License-Identifier: MIT
// gRPC C++ with its asynchronous interface, as a peer of tools/bench rpc: "grpc_cpp_peer --rows"
// prints the names of its rows, "grpc_cpp_peer serve" prints its port and serves, "grpc_cpp_peer
// call PORT CONNECTIONS IN_FLIGHT" puts a load on it. Client and server have one completion queue
// and one thread each.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/benchmarks/peers/grpc_cpp/peer.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"--rows"}) {
    std::puts("rpc/1x1\nrpc/10x1\nrpc/1x64\nrpc/1x1000\nrpc/10x100\nrpc/throughput");
    return EXIT_SUCCESS;
  }
  if (words == std::vector<std::string>{"serve"}) return corolane::bench::serve_grpc();
  if (words.size() == 4 && words[0] == "call") {
    return corolane::bench::call_grpc(words[1], std::stoul(words[2]), std::stoul(words[3]));
  }
  std::puts("usage: grpc_cpp_peer --rows | serve | call PORT CONNECTIONS IN_FLIGHT");
  return EXIT_FAILURE;
}
