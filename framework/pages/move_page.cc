// SPDX-License-Identifier: MIT
// POST /move: which node owns a partition is placement's decision, until an operator pins it.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/cluster/placement.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "net/http/percents.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration pin_time_max = 2s;
// A call that runs delays its partition; the answer does not wait for ever.
constexpr Duration move_time_max = 5s;
constexpr Duration look_interval = 10ms;

Error wrong(std::string text) {
  text.append("; as in POST /move?object=chess.Game/17&to=chess-2, without to= for the way back");
  return Error(Code::invalid_argument, std::move(text));
}

std::string name_of(const Member* member) { return member == nullptr ? "" : member->name; }

std::string owner_of(const Cluster& cluster, std::string_view type, Partition partition) {
  const auto view = cluster.view();
  const auto* const group = view->find_group(type);
  return group == nullptr ? "" : name_of(group->owner(partition).member);
}

// The name of the node, if the partition may live there.
Result<std::string> find_target(const ClusterView& view, const Placement& placement,
                                std::string_view text) {
  std::string wanted;
  if (!net::read_percents(text, ' ', wanted)) {
    return wrong("to is percent-encoded, with %25 for a %");
  }
  std::string names;
  for (const Member* const member : possible_owners(view.members(), placement)) {
    if (member->name == wanted) return wanted;
    names.append(names.empty() ? "" : ", ").append(member->name);
  }
  return wrong("to is a node that may host the object: " + (names.empty() ? "none" : names));
}

// Where placement wants the partition, without a pin of its own.
std::string home_of(const ClusterView& view, const ClusterView::Group& group, Partition partition) {
  Pins pins = group.pins;
  pins.erase(partition);
  return name_of(choose_owners(view.members(), group.placement, pins)[partition]);
}

bool all_know_pins(const ClusterView& view) {
  return std::ranges::all_of(
      view.members(), [](const Member& member) { return member.placement_rule >= rule_with_pins; });
}

std::string move_text(const Json& page) {
  const std::string partition = "partition " + cell_text(page.at("partition")) + ", of " +
                                cell_text(page.at("object")) + ", ";
  const std::string to = cell_text(page.at("to"));
  if (page.at("is_there").is_true()) {
    return partition + "is on " + to + (page.at("pinned").is_true() ? ", and stays there" : "") +
           "\n";
  }
  return partition + "is to go to " + to + ", and still on " + cell_text(page.at("owner")) +
         ": corolane explain says which call keeps it there\n";
}

}  // namespace

Result<net::HttpResponse> move_partition(Node& node, const net::HttpRequest& request) {
  if (!format_of(request)) return unknown_format(request);
  auto name = find_object(node, request.query("object"));
  if (!name) return bad_query(wrong(name.error().message()));
  Cluster* const cluster = node.cluster();
  const auto view = cluster == nullptr ? nullptr : cluster->view();
  const auto* const group = view == nullptr ? nullptr : view->find_group(name->type);
  if (group == nullptr) return bad_query(wrong("no node hosts " + name->type));
  if (!all_know_pins(*view)) {
    return bad_query(wrong("a node of an earlier build is in the cluster, and knows no pins"));
  }
  const Partition partition = view->partition_hash(name->type)(name->id);
  std::optional<Pin> pin;
  std::string to;
  if (const auto wanted = request.query("to"); !wanted.empty()) {
    auto found = find_target(*view, group->placement, wanted);
    if (!found) return bad_query(found.error());
    to = *std::move(found);
    pin = Pin{.node = to};
  } else {
    to = home_of(*view, *group, partition);
  }
  if (auto pinned = cluster->pin(group->placement, partition, pin, Deadline::after(pin_time_max));
      !pinned) {
    return pinned.error();
  }
  node.log().always("asked to move a partition",
                    {{"partition", partition}, {"to", to}, {"pinned", pin.has_value()}});
  const Deadline deadline = Deadline::after(move_time_max);
  while (owner_of(*cluster, name->type, partition) != to && !deadline.has_passed()) {
    if (auto slept = coroutine::sleep_for(look_interval); !slept) return slept.error();
  }
  const std::string owner = owner_of(*cluster, name->type, partition);
  auto response = in_format(request,
                            {{"object", name->type + "/" + name->id},
                             {"partition", partition},
                             {"to", to},
                             {"pinned", pin.has_value()},
                             {"owner", owner.empty() ? Json() : Json(owner)},
                             {"is_there", owner == to}},
                            move_text);
  if (owner != to) response.status = 202;
  return response;
}

}  // namespace corolane::framework::detail
