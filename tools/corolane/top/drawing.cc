// SPDX-License-Identifier: MIT
#include "tools/corolane/top/drawing.h"

#include <algorithm>
#include <array>

#include "tools/corolane/figures.h"

namespace corolane::tools::cli::top {
namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view inverse = "\x1b[7m";
constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view cyan = "\x1b[36m";
constexpr std::string_view plain = "\x1b[0m";

constexpr std::size_t label_width = 10;
constexpr std::size_t row_count_of_text = 20;
constexpr std::size_t width_of_text = 160;

constexpr std::array<std::string_view, 18> help = {
    "m           methods: calls per second, latency, and those that failed: errors are the",
    "            server's fault, refusals the caller's. The row of a method of objects has",
    "            all its calls, whoever makes them",
    "t           tasks: the coroutines, what they wait for, and since when",
    "s           stacks: where the tasks wait, grouped by stack",
    "c           cluster: the nodes; Enter goes to the views of one, c comes back",
    "",
    "j k         move down or up; arrows, Page Up, Page Down, Home and End move, too",
    "Enter       open a task or a stack; q or Escape closes it",
    "",
    "a l e n ... sort by the column with this letter before its title",
    "r           reverse the order; idle methods stay last",
    "",
    "q           quit",
    "h           this help; any key closes it",
    "",
    "Rates and latencies cover the time since the last frame. Those of a cluster are what",
    "its nodes say of their last seconds."};

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// The width in characters; characters that take two columns are rare in names.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(std::string_view text, std::size_t width) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (count == width) return std::string(text.substr(0, i));
    ++count;
  }
  return std::string(text);
}

std::string padding(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ');
}

// Collects the lines of a screen, cut to its size.
class Screen {
 public:
  Screen(Size size, Style style) : size_(size), style_(style) {}

  void add(std::string_view line, std::string_view look = {}) {
    if (lines_.size() >= size_.height) return;
    std::string text = cut(line, size_.width);
    if (style_ == Style::colored && !look.empty()) {
      if (look == inverse) text += padding(text, size_.width);
      text = std::string(look) + text + std::string(plain);
    }
    lines_.push_back(std::move(text));
  }
  // Adds a label in a color, and a text.
  void add_labeled(std::string_view label, std::string_view text) {
    std::string line(label);
    line += padding(line, label_width);
    const std::size_t colored_size = std::min(line.size(), size_.width);
    line = cut(line + std::string(text), size_.width);
    if (style_ == Style::colored) {
      line.insert(colored_size, plain);
      line.insert(0, cyan);
    }
    if (lines_.size() < size_.height) lines_.push_back(std::move(line));
  }
  std::size_t rows_left() const { return size_.height - lines_.size(); }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  Size size_;
  Style style_;
  std::vector<std::string> lines_;
};

// A title with the key that sorts by it: "c:CALLS/S".
std::string title_of(const Column& column, bool is_sorted_by) {
  return std::string(1, column.key) + (is_sorted_by ? "*" : ":") + std::string(column.title);
}

std::string line_of(const std::vector<std::string>& cells, const Table& table,
                    const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_last = i + 1 == cells.size();
    const std::string blanks = padding(cells[i], widths[i]);
    line += table.columns[i].is_text ? cells[i] + (is_last ? "" : blanks) : blanks + cells[i];
    if (!is_last) line += "  ";
  }
  return line;
}

void draw_table(Screen& screen, const Frame& frame, const View& view, std::size_t row_count) {
  const Table& table = frame.table(view.table());
  const auto rows = view.rows(frame);
  const std::size_t first =
      view.selected() >= row_count && row_count > 0 ? view.selected() - row_count + 1 : 0;
  const std::size_t end = std::min(rows.size(), first + row_count);

  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    titles.push_back(title_of(table.columns[i], i == view.sort_column()));
    widths.push_back(width_of(titles.back()));
    for (std::size_t row = first; row < end; ++row) {
      widths.back() = std::max(widths.back(), width_of(rows[row]->cells[i].text));
    }
    // A long text must not push everything else off the screen.
    if (i + 1 < table.columns.size()) widths.back() = std::min(widths.back(), std::size_t{28});
  }
  screen.add("  " + line_of(titles, table, widths), bold);
  for (std::size_t row = first; row < end; ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool is_last = i + 1 == widths.size();
      const std::string& text = rows[row]->cells[i].text;
      cells.push_back(is_last ? text : cut(text, widths[i]));
    }
    const bool is_selected = row == view.selected() && !view.selected_id().empty();
    screen.add((is_selected ? "> " : "  ") + line_of(cells, table, widths),
               is_selected ? inverse : std::string_view());
  }
}

// The lines of the open item: a task in its current state, or a stack.
std::vector<std::string> details_of(const Frame& frame, const View& view) {
  if (view.table() == TableKind::tasks) {
    const auto& task = frame.open_task;
    if (!task || task->id != view.selected_id()) {
      return {"task " + view.selected_id() + " has ended, or is being loaded"};
    }
    std::vector<std::string> lines = {
        "task " + task->id + "  " + task->name,
        task->state + (task->waiting_for.empty() ? "" : ", waits for " + task->waiting_for) +
            "  since " + age_text(task->in_state_seconds) + "  age " + age_text(task->age_seconds) +
            "  CPU " + time_text(task->cpu_seconds * 1e9),
        "spawned at " + task->spawned_at, ""};
    for (const std::string& frame_line : task->stack) lines.push_back("at " + frame_line);
    return lines;
  }
  const auto& rows = frame.table(view.table()).rows;
  const auto row = std::ranges::find(rows, view.selected_id(), &Row::id);
  if (view.table() == TableKind::cluster) {
    return row == rows.end() ? std::vector{view.selected_id() + " has left the cluster"}
                             : row->details;
  }
  if (row == rows.end()) return {"no task has this stack any more"};
  std::vector<std::string> lines = {row->cells[0].text + " tasks  " + row->cells[2].text +
                                        ", wait for " + row->cells[3].text + "  the longest " +
                                        row->cells[1].text,
                                    row->cells[4].text, ""};
  for (const std::string& line : row->details) lines.push_back("at " + line);
  return lines;
}

void draw_details(Screen& screen, const Frame& frame, const View& view, std::size_t row_count) {
  const auto lines = details_of(frame, view);
  // The last line always stays on the screen.
  const std::size_t first = std::min(view.scroll(), lines.size() - 1);
  const std::size_t end = std::min(lines.size(), first + row_count);
  for (std::size_t i = first; i < end; ++i) screen.add(lines[i]);
}

std::string footer_of(const Frame& frame, const View& view) {
  if (view.is_open()) return "j/k move  q back";
  const Table& table = frame.table(view.table());
  std::string text =
      "m methods  t tasks  s stacks  c cluster  j/k move  Enter open  h help  q quit";
  if (table.count > table.rows.size()) {
    text += "   " + count_text(static_cast<double>(table.rows.size())) + " of " +
            count_text(static_cast<double>(table.count)) + " shown";
  }
  return text;
}

}  // namespace

std::vector<std::string> draw(const Frame& frame, const View& view, Size size, Style style,
                              std::string_view trouble) {
  Screen screen(size, style);
  screen.add(frame.title, bold);
  if (!trouble.empty()) screen.add(trouble, red);
  if (view.shows_help()) {
    screen.add("");
    for (const std::string_view line : help) screen.add(line);
    return screen.take();
  }
  for (const SummaryLine& line : frame.summary_of(view.table())) {
    screen.add_labeled(line.label, line.text);
  }
  screen.add("");
  // One line is for the titles, and one for the footer.
  const std::size_t row_count = screen.rows_left() > 2 ? screen.rows_left() - 2 : 0;
  const std::size_t rows_below = screen.rows_left();
  if (view.is_open()) {
    draw_details(screen, frame, view, row_count + 1);
  } else {
    draw_table(screen, frame, view, row_count);
  }
  while (rows_below > 0 && screen.rows_left() > 1) screen.add("");
  screen.add(footer_of(frame, view), bold);
  return screen.take();
}

std::string frame_text(const Frame& frame, const View& view) {
  const auto& summary = frame.summary_of(view.table());
  const std::size_t height = summary.size() + 3 + row_count_of_text;
  Screen screen({.width = width_of_text, .height = height}, Style::plain);
  screen.add(frame.title);
  for (const SummaryLine& line : summary) screen.add_labeled(line.label, line.text);
  screen.add("");
  draw_table(screen, frame, view, screen.rows_left() - 1);
  std::string text;
  for (std::string& line : screen.take()) {
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).append("\n");
  }
  return text;
}

}  // namespace corolane::tools::cli::top
