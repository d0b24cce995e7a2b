// SPDX-License-Identifier: MIT
// All code that runs in a handler calls only functions that signal-safety(7) allows, and system
// calls.
#include "framework/diagnostics/detail/crash_handler.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "coroutine/crash/crash_scene.h"
#include "coroutine/stack/fault_guard.h"
#include "framework/diagnostics/detail/stopped_threads.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using coroutine::CrashScene;
using coroutine::FaultGuard;
using coroutine::ReportText;

// After this time the process dies with an incomplete report: a crashed process is useless to its
// cluster.
constexpr unsigned write_seconds_max = 10;
constexpr unsigned name_seconds_max = 10;
// For the tasks of one thread.
constexpr Duration tasks_time_max = 2s;

constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const CrashHandlerOptions* installed = nullptr;
// The first thread that crashed; zero: none.
constinit std::atomic<pid_t> crashed_thread = 0;
constinit std::atomic<int> crash_signal = 0;
constinit std::atomic<int> report_descriptor = STDERR_FILENO;
constinit std::array<char, 1100> report_path = {};
constinit std::array<char, 1100> named_path = {};

struct Crash {
  int signal;
  const siginfo_t* info;
  ucontext_t* context;
};

// --- The contents of a report

std::string_view meaning_of(const siginfo_t& info) {
  if (info.si_signo == SIGSEGV && info.si_code == SEGV_MAPERR) return "there is no such address";
  if (info.si_signo == SIGSEGV && info.si_code == SEGV_ACCERR) return "no access to this address";
  if (info.si_signo == SIGFPE && info.si_code == FPE_INTDIV) return "division by zero";
  if (info.si_signo == SIGFPE && info.si_code == FPE_INTOVF) return "overflow";
  if (info.si_signo == SIGILL && info.si_code == ILL_ILLOPN) return "no such instruction";
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRALN) return "address is not aligned";
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRERR) return "no memory backs the address";
  return "";
}

void add_signal_name(int signal, ReportText& text) {
  const char* const name = ::sigabbrev_np(signal);
  text.add("SIG").add(name == nullptr ? "?" : name);
}

void add_signal(const Crash& crash, ReportText& text) {
  const siginfo_t& info = *crash.info;
  text.add("signal    ");
  add_signal_name(crash.signal, text);
  text.add(" (").add(static_cast<std::uint64_t>(crash.signal)).add(")");
  if (info.si_code > 0) {
    text.add(", code ").add(static_cast<std::uint64_t>(info.si_code)).add(", at address ");
    text.add_hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
    const auto meaning = meaning_of(info);
    if (!meaning.empty()) text.add(": ").add(meaning);
  } else if (info.si_pid == ::getpid()) {
    text.add(", raised by the process itself");
  } else {
    text.add(", sent by process ").add(static_cast<std::uint64_t>(info.si_pid));
  }
  text.add("\n").flush();
}

void add_thread(ReportText& text) {
  std::array<char, 17> name = {};
  ::prctl(PR_GET_NAME, name.data());
  text.add(static_cast<std::uint64_t>(::gettid())).add(" ").add_name(name.data());
  if (::gettid() == ::getpid()) text.add(", the first one");
  if (!CrashScene::has_scheduler()) text.add(", without a scheduler");
}

#if defined(__x86_64__)
void add_registers(const ucontext_t& context, ReportText& text) {
  constexpr auto names = std::to_array<std::pair<const char*, int>>({{"rip", REG_RIP},
                                                                     {"rsp", REG_RSP},
                                                                     {"rbp", REG_RBP},
                                                                     {"rax", REG_RAX},
                                                                     {"rbx", REG_RBX},
                                                                     {"rcx", REG_RCX},
                                                                     {"rdx", REG_RDX},
                                                                     {"rsi", REG_RSI},
                                                                     {"rdi", REG_RDI},
                                                                     {"r8", REG_R8},
                                                                     {"r9", REG_R9},
                                                                     {"r10", REG_R10},
                                                                     {"r11", REG_R11},
                                                                     {"r12", REG_R12},
                                                                     {"r13", REG_R13},
                                                                     {"r14", REG_R14},
                                                                     {"r15", REG_R15}});
  text.add("registers");
  for (const auto& [name, number] : names) {
    text.add(" ").add(name).add("=");
    text.add_hex(static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]));
  }
  text.add("\n").flush();
}
#elif defined(__aarch64__)
void add_registers(const ucontext_t& context, ReportText& text) {
  text.add("registers pc=").add_hex(context.uc_mcontext.pc);
  text.add(" sp=").add_hex(context.uc_mcontext.sp);
  for (std::uint64_t i = 0; i < 31; ++i) {
    text.add(" x").add(i).add("=").add_hex(context.uc_mcontext.regs[i]);
  }
  text.add("\n").flush();
}
#endif

// Adds a part of a report; a fault in it does not end the report.
template <typename F>
void add_part(ReportText& text, F&& add) {
  if (FaultGuard::run(add)) return text.flush();
  text.add("\n(a fault in the report itself: the data for this part is broken)\n").flush();
}

void add_running(const Crash& crash, ReportText& text) {
  add_part(text, [&] { CrashScene::add_running_task(crash.context, text); });
  add_part(text, [&] {
    if (installed->add_work != nullptr) installed->add_work(text);
  });
}

void add_others(const Crash& crash, ReportText& text) {
  add_part(text, [&] { CrashScene::add_stack(crash.context, text); });
  if (!CrashScene::has_scheduler()) return;
  text.add("\n");
  add_part(text, [&] { CrashScene::add_task_stacks(tasks_time_max, text); });
}

void add_crash(const Crash& crash, std::chrono::system_clock::time_point time, ReportText& text) {
  text.add("corolane crash report\n\ntime      ").add_time(time).add("\n");
  add_signal(crash, text);
  text.add(installed->facts);
  text.add("process   ").add(static_cast<std::uint64_t>(::getpid())).add("\nthread    ");
  add_thread(text);
  text.add("\n").flush();
  add_running(crash, text);
  add_part(text, [&] { CrashScene::add_failed_check(text); });
  if (crash.signal == SIGSEGV) {
    add_part(text, [&] { CrashScene::add_overflow(*crash.info, crash.context, text); });
  }
  add_registers(*crash.context, text);
  text.add("\nwhere it crashed:\n").flush();
  add_others(crash, text);
}

// The report of another thread on itself.
void add_stopped(const Crash& crash, ReportText& text) {
  text.add("\nthread ");
  add_thread(text);
  if (crash.signal != SIGABRT) {
    text.add(", which has crashed as well, by ");
    add_signal_name(crash.signal, text);
  }
  text.add("\n").flush();
  if (CrashScene::has_scheduler()) add_running(crash, text);
  add_others(crash, text);
}

// --- The destination of a report

// "20261123T011800Z" of "2026-11-23T01:18:00.250Z".
char* copy_compact(std::string_view time, char* to) {
  for (const char c : time.substr(0, time.find('.'))) {
    if (c != '-' && c != ':') *to++ = c;
  }
  *to++ = 'Z';
  return to;
}

// Falls back to stderr when no file can be created.
void begin_file(std::chrono::system_clock::time_point time) {
  if (installed->path_begin.empty()) return;
  ReportText time_text(-1);
  time_text.add_time(time);
  ReportText rest(-1);
  rest.add("-").add(static_cast<std::uint64_t>(::getpid())).add(".crash");
  char* end = std::ranges::copy(installed->path_begin, report_path.data()).out;
  end = std::ranges::copy(rest.view(), copy_compact(time_text.view(), end)).out;
  named_path = report_path;
  std::ranges::copy(std::string_view(".named"), named_path.begin() + (end - report_path.data()));
  const int file = ::open(report_path.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    report_path[0] = '\0';
  } else {
    report_descriptor.store(file);
  }
}

// Writes one line in the format of the log.
void log_crash(const Crash& crash, std::chrono::system_clock::time_point time) {
  ReportText text(STDERR_FILENO);
  text.add_time(time).add(" error   the node has crashed signal=");
  add_signal_name(crash.signal, text);
  const bool is_whole = FaultGuard::run([&] {
    const auto task = CrashScene::running_task();
    if (task.id != 0) text.add(" task=").add(task.id).add(" name=").add_name(task.name);
  });
  if (!is_whole) text.add(" task=?");
  if (report_path[0] != '\0') text.add(" report=").add_name(report_path.data());
  text.add("\n").flush();
}

// In the child: runs the program again to print the report with function names.
[[noreturn]] void name_stacks() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::alarm(name_seconds_max);
  const int named = ::open(named_path.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (named < 0 || nowhere < 0) ::_exit(1);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(named, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  std::array<const char*, 4> arguments = {installed->program_name.c_str(), "--explain-crash",
                                          report_path.data(), nullptr};
  // This path is the program even when its file has been replaced.
  ::execv("/proc/self/exe", const_cast<char* const*>(arguments.data()));
  ::_exit(1);
}

void replace_by_named() {
  if (report_path[0] == '\0') return;
  // Unlike fork(), this does not wait for the locks of the heap.
  const pid_t child = ::_Fork();
  if (child == 0) name_stacks();
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    ::rename(named_path.data(), report_path.data());
  } else {
    ::unlink(named_path.data());
  }
}

// --- The end of the process

void unblock(int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

// Ends the process when the report takes too long, for any reason.
void on_alarm(int) {
  const int signal = crash_signal.load();
  std::signal(signal, SIG_DFL);
  unblock(signal);
  ::raise(signal);
}

// From now on only faults and `taken` can interrupt.
void block_signals_but(int taken) {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, taken}) sigdelset(&signals, fault);
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
}

void report(const Crash& crash) {
  struct sigaction alarm_action = {};
  alarm_action.sa_handler = &on_alarm;
  ::sigaction(SIGALRM, &alarm_action, nullptr);
  ::alarm(write_seconds_max);
  StoppedThreads threads;
  const auto time = std::chrono::system_clock::now();
  begin_file(time);
  ReportText text(report_descriptor.load());
  add_crash(crash, time, text);
  threads.let_each_tell(text);
  text.add("\nend of the report\n").flush();
  log_crash(crash, time);
  ::alarm(name_seconds_max);
  replace_by_named();
  ::alarm(0);
}

// Takes the default action of the signal.
void die(const Crash& crash) {
  std::signal(crash.signal, SIG_DFL);
  // The return from here repeats a fault.
  if (crash.info->si_code > 0) return;
  unblock(crash.signal);
  ::raise(crash.signal);
}

// Reports this thread when asked, then waits for the end of the process.
[[noreturn]] void take_part(const Crash& crash) {
  block_signals_but(SIGSEGV);
  StoppedThreads::wait_for_turn();
  ReportText text(report_descriptor.load());
  add_stopped(crash, text);
  StoppedThreads::end_turn();
  for (;;) ::pause();
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (FaultGuard::is_active()) FaultGuard::leave();
  const Crash crash{.signal = signal, .info = info, .context = static_cast<ucontext_t*>(context)};
  pid_t first = 0;
  if (crashed_thread.compare_exchange_strong(first, ::gettid())) {
    crash_signal.store(signal);
    block_signals_but(SIGALRM);
    report(crash);
  } else if (first != ::gettid()) {
    take_part(crash);
  }
  die(crash);
}

}  // namespace

void install_crash_handler(CrashHandlerOptions options) {
  if (installed != nullptr) return;
  if (options.path_begin.size() > crash_path_begin_size_max) options.path_begin.clear();
  installed = new CrashHandlerOptions(std::move(options));
  CrashScene::prepare();
  for (const int signal : crash_signals) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_sigaction = &on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace corolane::framework::detail
