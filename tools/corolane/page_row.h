// SPDX-License-Identifier: MIT
// A command of page_commands.h, and the request that it makes.
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
  // The beginning of the target of a request, "/tasks/" or "/log?level=".
  struct Target {
    std::string_view method = "GET";
    std::string_view beginning = {};
  };

  Command command;
  Target plain;
  // The name of the word after HOST:PORT in the help; empty where there is none.
  std::string_view word = {};
  bool needs_word = false;
  // The target with a word, which is appended, percent-encoded except for its slashes.
  Target with_word = {};
  // The word is one part of a path: its slashes are encoded, too.
  bool is_one_part = false;
  // The target with the option `flag`, which is then left out of the query.
  std::string_view flag = {};
  Target with_flag = {};
  // Options that are allowed only with a word, separated by blanks.
  std::string_view word_options = {};
  // The limit of --seconds, where the page takes it.
  int seconds_max = 0;
  // With this option the command does something else with the page.
  std::string_view other_option = {};
  Outcome (*run_other)(const Arguments& arguments) = nullptr;
  // Turns the body into text, for pages that are not text.
  Result<std::string> (*render)(std::string_view body) = nullptr;
};

// The request; `words` are the words after HOST:PORT. Misused when they do not fit.
std::expected<PageRequest, Failure> page_request(const PageRow& row, const Arguments& arguments,
                                                 const std::vector<std::string>& words);

// Fetches the page, and prints it or writes it to the file of --output.
Outcome run_page_row(const PageRow& row, const Arguments& arguments);

}  // namespace corolane::tools::cli
