// SPDX-License-Identifier: MIT
#include "coroutine/base/exception_text.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>

namespace corolane {
namespace {

std::string type_of_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "of another language";
  const std::unique_ptr<char, decltype([](char* text) { std::free(text); })> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr));
  return name == nullptr ? type->name() : name.get();
}

}  // namespace

std::string exception_text() {
  const std::string type = " (" + type_of_exception() + ")";
  try {
    throw;
  } catch (const std::exception& exception) {
    return std::string(": ") + exception.what() + type;
  } catch (...) {
    return type;
  }
}

}  // namespace corolane
