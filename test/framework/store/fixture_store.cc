// SPDX-License-Identifier: MIT
// Opens the SqliteStore at its only argument and ends: a second process for the tests.
#include <cstdlib>
#include <iostream>

#include "framework/store/sqlite_store.h"

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  const auto store = corolane::framework::SqliteStore::open(argv[1]);
  std::cout << (store ? "opened" : store.error().to_string()) << '\n';
  return store ? EXIT_SUCCESS : EXIT_FAILURE;
}
