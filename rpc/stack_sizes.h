// SPDX-License-Identifier: MIT
// The stack on which the handlers of each method run: as large as the option of the method says,
// unless an operator has chosen another size.
//
//   rpc::StackSizes sizes;
//   sizes.set("chess.Game/Move", 128 * 1024);
//   rpc::Server server(network, {.stack_sizes = sizes});
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "rpc/service.h"

namespace corolane::rpc {

class StackSizes {
 public:
  // "package.Service/Method"; a stack pool rounds the size up to one that it has.
  void set(std::string_view method, std::size_t size_bytes) {
    sizes_.insert_or_assign(std::string(method), size_bytes);
  }

  std::size_t of(const Method& method) const {
    const auto found = sizes_.find(std::string_view(method.full_name));
    return found == sizes_.end() ? method.stack_size_bytes : found->second;
  }

 private:
  std::map<std::string, std::size_t, std::less<>> sizes_;  // By the name of the method.
};

}  // namespace corolane::rpc
