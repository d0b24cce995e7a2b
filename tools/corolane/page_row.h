// What one of the commands of page_commands.h asks for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/corolane/admin_door.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

struct PageRow {
  // What is asked for: the first part of a request's target, "/tasks/" or "/log?level=".
  struct Target {
    std::string_view method = "GET";
    std::string_view beginning = {};
  };

  Command command;
  Target plain;
  // What the help calls the word behind HOST:PORT; empty where there is none.
  std::string_view word = {};
  bool needs_word = false;
  // With a word, which is put behind it, encoded but for its slashes.
  Target with_word = {};
  // With that option, which is no part of the query then.
  std::string_view flag = {};
  Target with_flag = {};
  // Options that go with a word alone, apart by blanks.
  std::string_view word_options = {};
  // Makes text of what comes, where the page is not text by itself.
  Result<std::string> (*render)(std::string_view body) = nullptr;
};

// What is to be asked for; `words` are those behind HOST:PORT. Misused when they do not fit.
std::expected<PageRequest, Failure> page_request(const PageRow& row, const Arguments& arguments,
                                                 const std::vector<std::string>& words);

// Asks, and prints it or writes it to the file of --output.
Outcome run_page_row(const PageRow& row, const Arguments& arguments);

}  // namespace corolane::tools::cli
