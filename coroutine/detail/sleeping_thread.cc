// SPDX-License-Identifier: MIT
#include "coroutine/detail/sleeping_thread.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>

namespace corolane::coroutine::detail {
namespace {

// The system calls in which a thread may wait. Those that only some processors have are older
// forms of others.
constexpr auto blocking_calls = std::to_array<std::pair<long, std::string_view>>({
#if defined(SYS_poll)
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_open, "open"},
    {SYS_pause, "pause"},
    {SYS_rename, "rename"},
    {SYS_unlink, "unlink"},
    {SYS_mkdir, "mkdir"},
    {SYS_stat, "stat"},
#endif
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect"},
    {SYS_epoll_pwait, "epoll_wait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_futex, "futex"},
    {SYS_read, "read"},
    {SYS_readv, "readv"},
    {SYS_pread64, "pread"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
    {SYS_pwrite64, "pwrite"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_sync_file_range, "sync_file_range"},
    {SYS_msync, "msync"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_ioctl, "ioctl"},
    {SYS_renameat2, "renameat2"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_newfstatat, "fstatat"},
    {SYS_statx, "statx"},
    {SYS_connect, "connect"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_rt_sigsuspend, "sigsuspend"},
    {SYS_rt_sigtimedwait, "sigtimedwait"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_io_uring_enter, "io_uring_enter"},
});

// The beginning of a small file of the thread; empty when it cannot be read.
std::string read_of_thread(pid_t thread, const char* file) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/%s", thread, file);
  const int descriptor = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::array<char, 256> text;
  const ssize_t size = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

// Takes the next number off `text`, which begins with it or with a space.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  if (text.starts_with(' ')) text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, is_hex ? 16 : 10);
  if (failure != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

// proc(5): "running", or the number of the call, its six arguments, the stack pointer and the
// program counter. Outside of a system call the arguments are missing, and the number is -1.
std::optional<SleepingThread> look_at_thread(pid_t thread) {
  const std::string told = read_of_thread(thread, "syscall");
  std::string_view rest = told;
  SleepingThread asleep;
  if (!take_number(rest, asleep.system_call)) return std::nullopt;
  std::uintptr_t argument = 0;
  for (int i = 0; asleep.system_call >= 0 && i < 6; ++i) {
    if (!take_number(rest, argument)) return std::nullopt;
  }
  if (!take_number(rest, asleep.stack_pointer) || !take_number(rest, asleep.instruction)) {
    return std::nullopt;
  }
  // Under an emulator the kernel tells of the emulator.
  dl_find_object found = {};
  if (_dl_find_object(reinterpret_cast<void*>(asleep.instruction), &found) != 0) {
    return std::nullopt;
  }
  asleep.wait_channel = read_of_thread(thread, "wchan");
  if (asleep.wait_channel == "0") asleep.wait_channel.clear();
  return asleep;
}

std::string to_text(const SleepingThread& asleep) {
  const auto* const known = std::ranges::find(blocking_calls, asleep.system_call,
                                              &std::pair<long, std::string_view>::first);
  std::string text = asleep.system_call < 0 ? "the kernel, outside of a system call"
                     : known == blocking_calls.end()
                         ? "system call " + std::to_string(asleep.system_call)
                         : std::string(known->second);
  if (!asleep.wait_channel.empty()) text.append(" (").append(asleep.wait_channel) += ')';
  return text;
}

}  // namespace corolane::coroutine::detail
