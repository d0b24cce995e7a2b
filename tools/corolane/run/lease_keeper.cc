// SPDX-License-Identifier: MIT
#include "tools/corolane/run/lease_keeper.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "coroutine/base/deadline.h"
#include "tools/corolane/run/last_lines.h"

namespace corolane::tools::cli::run {
namespace {

constexpr std::chrono::seconds patience{10};
constexpr int look_interval_ms = 20;

// Waits until the child has ended and its output is read. Returns false when that takes too long.
bool wait_for(Child& child, LastLines& said, Ending& ending) {
  const Deadline deadline = Deadline::after(patience);
  while (!deadline.has_passed()) {
    pollfd source{.fd = child.error_pipe(), .events = POLLIN, .revents = 0};
    poll(&source, 1, look_interval_ms);
    std::array<char, 4'096> bytes;
    ssize_t count = 0;
    while ((count = read(child.error_pipe(), bytes.data(), bytes.size())) > 0) {
      said.add({bytes.data(), static_cast<std::size_t>(count)});
    }
    if (child.has_ended(ending)) return true;
  }
  return false;
}

}  // namespace

LeaseKeeper::LeaseKeeper(std::vector<std::string> words,
                         std::function<void(const std::string& line)> tell)
    : words_(std::move(words)), tell_(std::move(tell)) {
  std::error_code error;
  const auto place = std::filesystem::temp_directory_path(error);
  folder_ = (error ? "/tmp" : place.string()) + "/corolane-run-XXXXXX";
  if (mkdtemp(folder_.data()) == nullptr) {
    tell_("cannot create " + folder_ + " for the lease of the node: " + std::strerror(errno) +
          ": other nodes will wait until a lease expires");
    folder_.clear();
  }
}

LeaseKeeper::~LeaseKeeper() {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void LeaseKeeper::revoke() const {
  std::string lease;
  std::ifstream(file()) >> lease;
  if (lease.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(file(), ignored);

  std::vector<std::string> words = words_;
  words.insert(words.end(), {"--revoke-lease", lease});
  auto child = Child::start(words, {});
  LastLines said(5);
  Ending ending;
  if (!child) return tell_("lease " + lease + " is not revoked: " + child.error().message());
  if (!wait_for(*child, said, ending)) return tell_("lease " + lease + " is not revoked in time");
  tell_("lease " + lease +
        (ending.is_failure() ? " is not revoked, it expires by itself:\n" + said.text()
                             : " is revoked: others take over"));
}

}  // namespace corolane::tools::cli::run
