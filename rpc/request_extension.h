// What a request carries beside its message, between the wire and what the runtime makes of it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "rpc/trace_context.h"

namespace corolane::rpc {

class RequestExtension;

// The bytes of a RequestExtension. Small ones, such as a trace alone, cost no allocation.
class ExtensionBytes {
 public:
  ExtensionBytes(const TraceContext& trace, std::string_view authorization);
  ExtensionBytes(const ExtensionBytes&) = delete;
  ExtensionBytes& operator=(const ExtensionBytes&) = delete;

  // Empty when there is nothing to say.
  std::string_view view() const { return view_; }

 private:
  std::array<char, 64> small_;
  std::string large_;
  std::string_view view_;
};

// Not valid when the extension names no trace, or half of one.
TraceContext trace_of(const RequestExtension& extension);

}  // namespace corolane::rpc
