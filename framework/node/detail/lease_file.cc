// SPDX-License-Identifier: MIT
#include "framework/node/detail/lease_file.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "coroutine/scheduler.h"
#include "framework/node/detail/backends.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework::detail {
namespace {

constexpr std::chrono::seconds patience{5};

// A truncated number could be another node's lease.
bool write_whole(const std::string& path, const std::string& text) {
  const std::string beginning = path + ".new";
  std::ofstream file(beginning);
  file << text << std::flush;
  return file && std::rename(beginning.c_str(), path.c_str()) == 0;
}

}  // namespace

std::function<void(Directory::Lease)> lease_writer_of_process(Log& log) {
  const char* const path = std::getenv("COROLANE_LEASE_FILE");
  if (path == nullptr || *path == '\0') return nullptr;
  return [path = std::string(path), &log](Directory::Lease lease) {
    if (write_whole(path, std::to_string(lease) + "\n")) return;
    log.warning("the lease file cannot be written: no supervisor can revoke the lease",
                {{"file", path}});
  };
}

Result<void> revoke_lease(const ClusterConfig& config, Directory::Lease lease) {
  if (config.directory == DirectoryKind::local) return {};
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  Result<void> revoked;
  auto ran = scheduler.run("revoke a lease", [&] {
    const auto directory = open_directory(config, network, 0);
    revoked = directory ? (*directory)->revoke(lease, Deadline::after(patience))
                        : Result<void>(directory.error());
  });
  return ran ? revoked : ran;
}

}  // namespace corolane::framework::detail
