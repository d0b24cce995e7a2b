// SPDX-License-Identifier: MIT
#include "coroutine/base/exception_text.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace corolane {
namespace {

template <typename Exception>
std::string text_of(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return exception_text();
  }
}

TEST(ExceptionTextTest, AStandardExceptionHasItsTextAndType) {
  EXPECT_EQ(text_of(std::out_of_range("no such room")), ": no such room (std::out_of_range)");
}

TEST(ExceptionTextTest, AnythingElseHasItsType) {
  EXPECT_EQ(text_of(42), " (int)");
  EXPECT_EQ(text_of(std::string("text")).substr(0, 6), " (std:");
}

}  // namespace
}  // namespace corolane
