// The file through which a Unix socket is found: made by bind(), and left behind by a server that
// died.
#pragma once

#include <sys/types.h>

#include <string>

#include "coroutine/base/result.h"
#include "net/detail/socket_address.h"

namespace corolane::net::detail {

// True for a Unix socket with a path.
bool has_file(const SocketAddress& address);

// A socket file that this process has made.
class SocketFile {
 public:
  // Removes it, unless somebody has put another in its place.
  void remove() const;

 private:
  friend Result<SocketFile> listen_on_file(int descriptor, const SocketAddress& address,
                                           int backlog);
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Binds the socket to its path and listens. A file of a server that is dead is replaced. Fails with
// already_exists when one is alive or the file is no socket, with not_found when there is no such
// folder, with permission_denied, and with unavailable when the folder stays locked.
Result<SocketFile> listen_on_file(int descriptor, const SocketAddress& address, int backlog);

}  // namespace corolane::net::detail
