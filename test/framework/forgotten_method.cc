// SPDX-License-Identifier: MIT
// An object that lacks one of its methods: does not compile.
#include "framework/node/node.h"

namespace corolane::framework {

class GuildBase : public ObjectBase {
 public:
  static const ObjectType& object_type();
  virtual Result<void> donate() = 0;
};

class Guild : public GuildBase {};

void host(Node& node) { node.host<Guild>(); }

}  // namespace corolane::framework
