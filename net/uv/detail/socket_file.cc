// SPDX-License-Identifier: MIT
#include "net/uv/detail/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

using namespace std::chrono_literals;

const char* path_of(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr_un*>(address.get())->sun_path;
}

Error system_error(std::string_view action) {
  if (errno == ENOENT || errno == ENOTDIR) {
    return Error(Code::not_found, std::string(action).append(": no such folder"));
  }
  if (errno == EROFS) {
    return Error(Code::permission_denied, std::string(action).append(": read-only file system"));
  }
  return uv_error(-errno, action);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// Locks the folder while this server checks a file and replaces it: two servers that start together
// would otherwise both find a dead server's file, and the second would remove the first's.
Result<Descriptor> lock_folder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return system_error("open " + folder);
  // Other servers hold the lock only during a bind(), so this wait is negligible.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (::flock(opened.get(), LOCK_EX | LOCK_NB) == 0) return opened;
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("lock " + folder);
    std::this_thread::sleep_for(1ms);
  }
  return Error(Code::unavailable, folder + " is locked by another process");
}

// Whether a process listens there: it answers, or would if its backlog were not full.
Result<bool> is_alive(const SocketAddress& address) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (probe.get() < 0) return uv_error(-errno, "socket");
  return ::connect(probe.get(), address.get(), address.size) == 0 || errno != ECONNREFUSED;
}

Result<void> remove_dead(const SocketAddress& address) {
  const std::string path = path_of(address);
  struct stat found{};
  if (::lstat(path.c_str(), &found) < 0) {
    if (errno == ENOENT) return {};
    return system_error("look at " + path);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Error(Code::already_exists, path + " is a file of another kind");
  }
  auto alive = is_alive(address);
  if (!alive) return alive.error();
  if (*alive) return Error(Code::already_exists, "another server listens there");
  if (::unlink(path.c_str()) < 0 && errno != ENOENT) return system_error("remove " + path);
  return {};
}

}  // namespace

bool has_file(const SocketAddress& address) {
  return address.get()->sa_family == AF_UNIX && path_of(address)[0] != '\0';
}

void SocketFile::remove() const {
  struct stat found{};
  if (::lstat(path_.c_str(), &found) < 0) return;
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

Result<SocketFile> listen_on_file(int descriptor, const SocketAddress& address, int backlog) {
  SocketFile file;
  file.path_ = path_of(address);
  auto lock = lock_folder(file.path_);
  if (!lock) return lock.error();
  if (auto removed = remove_dead(address); !removed) return removed.error();
  if (::bind(descriptor, address.get(), address.size) < 0) return system_error("bind");
  struct stat made{};
  if (::lstat(file.path_.c_str(), &made) < 0) return system_error("look at " + file.path_);
  file.device_ = made.st_dev;
  file.inode_ = made.st_ino;
  // Still under the lock: a file without a listener yet looks like a dead server's.
  if (::listen(descriptor, backlog) < 0) {
    const int error = errno;
    file.remove();
    return uv_error(-error, "listen");
  }
  return file;
}

}  // namespace corolane::net::detail
