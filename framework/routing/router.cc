// SPDX-License-Identifier: MIT
#include "framework/routing/router.h"

#include <memory>
#include <utility>

namespace corolane::framework {

detail::Broadcast::Reader Router::subscribe(std::string_view type, const std::string& id,
                                            const google::protobuf::Message&) {
  auto nothing = std::make_shared<detail::Broadcast>(detail::Broadcast::Bounds{});
  nothing->end(Error(Code::unimplemented, "from here nobody reads what " + std::string(type) +
                                              " \"" + id + "\" publishes"));
  return detail::Broadcast::Reader(std::move(nothing));
}

}  // namespace corolane::framework
