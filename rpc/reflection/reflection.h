// SPDX-License-Identifier: MIT
// Describes to callers what a server serves: names, types and message descriptors.
//
//   std::optional<rpc::ReflectionService> reflection;  // Like all services, outlives its server.
//   rpc::Server server(network);
//   server.add(reflection.emplace(server));
//
// Nodes may see all protos that are linked into the program. Peers behind the clients' door see
// only the methods that a client may call, with their request and reply types.
#pragma once

#include "rpc/reflection/reflection.corolane.h"
#include "rpc/server/server.h"

namespace corolane::rpc {

class ReflectionService : public ReflectionBase {
 public:
  // `server` is the one that serves it. It is read only during calls, so services added later are
  // listed too.
  explicit ReflectionService(const Server& server) : server_(&server) {}

  // Neither call suspends.
  Result<ListServicesReply> list_services(const ListServicesRequest& request,
                                          Context& context) override;
  Result<DescribeReply> describe(const DescribeRequest& request, Context& context) override;

 private:
  const Server* server_;
};

}  // namespace corolane::rpc
