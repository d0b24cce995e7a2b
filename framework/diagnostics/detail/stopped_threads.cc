// SPDX-License-Identifier: MIT
#include "framework/diagnostics/detail/stopped_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>

namespace corolane::framework::detail {
namespace {

constexpr long step_ns = 200'000;
constexpr int steps_to_answer = 2'500;  // Half a second.
constexpr int steps_to_tell = 15'000;   // Three seconds.

// The thread whose turn it is; negative while it reports.
constinit std::atomic<pid_t> turn = 0;

void wait_a_little() {
  constexpr timespec time = {.tv_sec = 0, .tv_nsec = step_ns};
  ::nanosleep(&time, nullptr);
}

bool wait_until_not(pid_t value, int step_count) {
  while (turn.load() == value) {
    if (step_count-- == 0) return false;
    wait_a_little();
  }
  return true;
}

// Calls visit(id) for each thread. Avoids opendir(), which allocates.
template <typename F>
void for_each_thread(F visit) {
  const int folder = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> entries;
  for (long size = 0;
       (size = ::syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0;) {
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      pid_t id = 0;
      std::from_chars(name.begin(), name.end(), id);
      if (id > 0) visit(id);
    }
  }
  ::close(folder);
}

}  // namespace

StoppedThreads::StoppedThreads() {
  for_each_thread([this](pid_t id) {
    if (id == ::gettid() || count_ == ids_.size()) return;
    if (::tgkill(::getpid(), id, SIGABRT) == 0) ids_[count_++] = id;
  });
}

void StoppedThreads::let_each_tell(coroutine::ReportText& text) {
  for (const pid_t id : std::span(ids_).first(count_)) {
    text.flush();
    turn.store(id);
    if (wait_until_not(id, steps_to_answer)) {
      if (wait_until_not(-id, steps_to_tell)) continue;
      // The thread may continue writing at any time.
      text.add("\nthread ").add(static_cast<std::uint64_t>(id));
      text.add(" does not finish its report; the remaining ones are left out\n");
      return;
    }
    pid_t asked = id;
    if (!turn.compare_exchange_strong(asked, 0)) {
      if (wait_until_not(-id, steps_to_tell)) continue;
      return;
    }
    text.add("\nthread ").add(static_cast<std::uint64_t>(id)).add(" does not answer\n");
  }
}

void StoppedThreads::wait_for_turn() {
  const pid_t id = ::gettid();
  for (pid_t asked = id; !turn.compare_exchange_strong(asked, -id); asked = id) wait_a_little();
}

void StoppedThreads::end_turn() { turn.store(0); }

}  // namespace corolane::framework::detail
