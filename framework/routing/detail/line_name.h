// SPDX-License-Identifier: MIT
// The name of a line, as nodes send it.
#pragma once

#include "framework/push/detail/outlet.h"
#include "framework/wire/push.pb.h"

namespace corolane::framework::detail {

inline PublicationLine to_message(const LineName& name) {
  PublicationLine line;
  line.set_node_epoch(name.node_epoch);
  line.set_shard(name.shard);
  line.set_number(name.number);
  return line;
}

inline LineName name_of(const PublicationLine& line) {
  return {.node_epoch = line.node_epoch(), .shard = line.shard(), .number = line.number()};
}

}  // namespace corolane::framework::detail
