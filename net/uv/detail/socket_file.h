// SPDX-License-Identifier: MIT
// The file of a Unix socket: created by bind(), and left behind by a server that died.
#pragma once

#include <sys/types.h>

#include <string>

#include "coroutine/base/result.h"
#include "net/detail/socket_address.h"

namespace corolane::net::detail {

// True for a Unix socket with a path.
bool has_file(const SocketAddress& address);

// A socket file that this process has created.
class SocketFile {
 public:
  // Removes it, unless another process has replaced it.
  void remove() const;

 private:
  friend Result<SocketFile> listen_on_file(int descriptor, const SocketAddress& address,
                                           int backlog);
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Binds the socket to its path and listens. The file of a dead server is replaced. Fails with
// already_exists when a server is alive there or the file is not a socket, with not_found when the
// folder does not exist, with permission_denied, and with unavailable when the folder stays locked.
Result<SocketFile> listen_on_file(int descriptor, const SocketAddress& address, int backlog);

}  // namespace corolane::net::detail
