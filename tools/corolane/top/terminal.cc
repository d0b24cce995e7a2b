// SPDX-License-Identifier: MIT
#include "tools/corolane/top/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "coroutine/base/check.h"

namespace corolane::tools::cli::top {
namespace {

// Switches to the alternate screen and hides the cursor, and back.
constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view leave_screen = "\x1b[0m\x1b[?25h\x1b[?1049l";

constexpr char wake_byte = 'w';
constexpr char resize_byte = 'r';
constexpr char end_byte = 'e';

constexpr std::array fatal_signals = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP};

// For signal handlers, which have no other state; set while a Terminal is open.
termios saved_state;
std::atomic<int> pipe_end{-1};

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Calls only functions that are safe in a signal handler.
void restore() {
  write_all(STDOUT_FILENO, leave_screen);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved_state);
}

void tell(char byte) {
  const int error = errno;
  // If the pipe is full, the reader has enough to wake up.
  static_cast<void>(!write(pipe_end.load(), &byte, 1));
  errno = error;
}

void set_handler(int number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

void on_fatal_signal(int number) {
  restore();
  // Restores the default action, so that a later handler that chained to this one is not called
  // again.
  set_handler(number, SIG_DFL, 0);
  static_cast<void>(std::raise(number));
}

void set_handlers() {
  for (const int number : ending_signals) {
    set_handler(number, [](int) { tell(end_byte); }, SA_RESTART);
  }
  set_handler(SIGWINCH, [](int) { tell(resize_byte); }, SA_RESTART);
  for (const int number : fatal_signals) set_handler(number, on_fatal_signal, 0);
}

void reset_handlers() {
  for (const int number : ending_signals) set_handler(number, SIG_DFL, 0);
  set_handler(SIGWINCH, SIG_DFL, 0);
  for (const int number : fatal_signals) set_handler(number, SIG_DFL, 0);
}

}  // namespace

bool is_terminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

Result<std::unique_ptr<Terminal>> Terminal::open() {
  check(pipe_end.load() < 0, "there is one terminal");
  if (!is_terminal() || tcgetattr(STDIN_FILENO, &saved_state) != 0) {
    return Error(Code::failed_precondition, "standard input and output are not a terminal");
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error(Code::resource_exhausted, "cannot create a pipe");
  }
  std::unique_ptr<Terminal> terminal(new Terminal());
  terminal->read_end_ = ends[0];
  terminal->write_end_ = ends[1];
  pipe_end = ends[1];
  set_handlers();

  termios raw = saved_state;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  // Drains output, and keeps input that was typed ahead.
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  write_all(STDOUT_FILENO, enter_screen);
  return terminal;
}

Terminal::~Terminal() {
  restore();
  reset_handlers();
  pipe_end = -1;
  close(read_end_);
  close(write_end_);
}

Terminal::Input Terminal::wait() {
  std::array<pollfd, 2> sources = {{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                    {.fd = read_end_, .events = POLLIN, .revents = 0}}};
  // Signals write to the pipe.
  while (poll(sources.data(), sources.size(), -1) < 0) {
  }
  Input input;
  std::array<char, 256> bytes;
  if (sources[0].revents != 0) {
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count > 0) input.bytes.assign(bytes.data(), static_cast<std::size_t>(count));
    input.is_over = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }
  if (sources[1].revents != 0) {
    const ssize_t count = read(read_end_, bytes.data(), bytes.size());
    const std::string_view told(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    input.is_woken = told.contains(wake_byte);
    input.is_over = input.is_over || told.contains(end_byte);
  }
  return input;
}

void Terminal::wake() { tell(wake_byte); }

Size Terminal::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.width = size.ws_col, .height = size.ws_row};
}

void Terminal::show(std::span<const std::string> lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\x1b[K";
    // A line break after the last line would scroll.
    if (i + 1 < lines.size()) text += "\r\n";
  }
  write_all(STDOUT_FILENO, text + "\x1b[J");
}

}  // namespace corolane::tools::cli::top
