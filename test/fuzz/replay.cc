// SPDX-License-Identifier: MIT
// Runs a target over files and folders of inputs: a corpus as a test, without a fuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/fuzz/entry.h"

namespace {

namespace fs = std::filesystem;

void replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  // Exactly sized, so that a sanitizer detects a read beyond the end.
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  // A target that aborts leaves the name of its input as the last line.
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::size_t replay_all(const fs::path& path) {
  if (!fs::is_directory(path)) {
    if (!fs::exists(path)) return 0;
    replay(path);
    return 1;
  }
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(path)) count += replay_all(entry.path());
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE_OR_FOLDER...\n", argv[0]);
    return 2;
  }
  for (int index = 1; index < argc; ++index) {
    if (replay_all(argv[index]) == 0) {
      std::fprintf(stderr, "%s: no input found; name a file or a folder\n", argv[index]);
      return 1;
    }
  }
  return 0;
}
