// corolane simulate: runs the simulated tests of a program for many seeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command simulate_command;

// The names of the simulated tests in what a program of GoogleTest prints for --gtest_list_tests.
std::vector<std::string> simulated_tests_of(std::string_view listed);

}  // namespace corolane::tools::cli
