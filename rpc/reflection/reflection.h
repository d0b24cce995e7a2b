// Tells callers what a server serves: names, types and the descriptors of its messages.
//
//   std::optional<rpc::ReflectionService> reflection;  // Like all services, outlives its server.
//   rpc::Server server(network);
//   server.add(reflection.emplace(server));
//
// Nodes are told everything about the protos that are linked into the program; whoever comes
// through the door of clients, what a client may call and what that takes and gives.
#pragma once

#include "rpc/reflection/reflection.corolane.h"
#include "rpc/server/server.h"

namespace corolane::rpc {

class ReflectionService : public ReflectionBase {
 public:
  // `server` is the one that serves it, asked during calls alone. What is added to it later is told
  // as well.
  explicit ReflectionService(const Server& server) : server_(&server) {}

  // Neither suspends.
  Result<ListServicesReply> list_services(const ListServicesRequest& request,
                                          Context& context) override;
  Result<DescribeReply> describe(const DescribeRequest& request, Context& context) override;

 private:
  const Server* server_;
};

}  // namespace corolane::rpc
