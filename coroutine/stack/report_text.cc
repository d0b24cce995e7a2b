// SPDX-License-Identifier: MIT
#include "coroutine/stack/report_text.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace corolane::coroutine {
namespace {

// Pads with leading zeros.
void add_padded(ReportText& text, std::uint64_t number, int digit_count) {
  std::uint64_t unit = 1;
  while (--digit_count > 0) unit *= 10;
  for (; unit > 1 && number < unit; unit /= 10) text.add("0");
  text.add(number);
}

}  // namespace

ReportText& ReportText::add(std::string_view part) {
  while (!part.empty()) {
    if (size_ == text_.size()) flush();
    const std::size_t count = std::min(part.size(), text_.size() - size_);
    std::copy_n(part.begin(), count, text_.begin() + size_);
    size_ += count;
    part.remove_prefix(count);
  }
  return *this;
}

ReportText& ReportText::add(std::uint64_t number, int base) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), number, base).ptr;
  return add(std::string_view(digits.begin(), end));
}

ReportText& ReportText::add_seconds(Duration time) {
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(time).count();
  const auto milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 0));
  add(milliseconds / 1000).add(".");
  add_padded(*this, milliseconds % 1000, 3);
  return add(" s");
}

ReportText& ReportText::add_name(std::string_view name) {
  add("\"");
  for (const char c : name) add(std::string_view(c >= ' ' && c <= '~' ? &c : "?", 1));
  return add("\"");
}

ReportText& ReportText::add_code_address(std::uintptr_t address) {
  dl_find_object found = {};
  // Takes no lock, unlike dladdr().
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return add_hex(address);
  const std::string_view path = found.dlfo_link_map->l_name;
  add(path.empty() ? "program" : path.substr(path.rfind('/') + 1));
  return add("+").add_hex(address - found.dlfo_link_map->l_addr);
}

ReportText& ReportText::add_time(std::chrono::system_clock::time_point time) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::hh_mm_ss;
  using std::chrono::milliseconds;
  using std::chrono::year_month_day;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  add_padded(*this, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  for (const unsigned part : {unsigned{date.month()}, unsigned{date.day()}}) {
    add("-");
    add_padded(*this, part, 2);
  }
  const char* before = "T";
  for (const long part :
       {clock.hours().count(), clock.minutes().count(), clock.seconds().count()}) {
    add(before);
    add_padded(*this, static_cast<std::uint64_t>(part), 2);
    before = ":";
  }
  add(".");
  add_padded(*this, static_cast<std::uint64_t>(clock.subseconds().count()), 3);
  return add("Z");
}

void ReportText::flush() {
  for (std::size_t done = 0; done < size_;) {
    const ssize_t count = ::write(descriptor_, text_.data() + done, size_ - done);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  size_ = 0;
}

}  // namespace corolane::coroutine
