// SPDX-License-Identifier: MIT
#include "framework/pages/detail/wait_chain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "coroutine/base/text.h"
#include "framework/cluster/cluster.h"
#include "framework/cluster/ownership.h"
#include "framework/node/detail/object_chain.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/far_page.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/silent_shards.h"

namespace corolane::framework::detail {
namespace {

using Kind = WaitStep::Kind;

// Longer chains would not be read, and each object may cost a question to another node.
constexpr std::size_t objects_max = 24;

// --- One step in words

std::string_view after_slash(std::string_view method) {
  return method.substr(method.rfind('/') + 1);
}

std::string lasting(Duration time) { return " for " + seconds_text(time); }

// Where something was made, unless that is the runtime itself.
std::string made_text(const WaitStep& step) {
  constexpr std::array<std::string_view, 4> own = {"coroutine/", "framework/", "net/", "rpc/"};
  if (!step.site) return {};
  const std::string place = site_text(*step.site);
  const bool is_own =
      std::ranges::any_of(own, [&](std::string_view room) { return place.starts_with(room); });
  return is_own ? std::string() : " made at " + place;
}

std::string holder_text(const WaitStep& step) {
  if (step.holder == 0) return ", held by a stackless coroutine or by a task that has ended";
  std::string text =
      ", held by task " + std::to_string(step.holder) + " " + quote(step.holder_name);
  if (step.object) text += " of " + short_name(step.object->type, step.object->id);
  return text;
}

std::string text_of(const WaitStep& step) {
  switch (step.kind) {
    case Kind::absent:
      return "is not in memory: the next call loads it";
    case Kind::moving:
      return "moves to another node: calls wait until it has moved";
    case Kind::idle:
      return "is idle";
    case Kind::runs:
      return (step.what.contains('/') ? "runs " : "has a turn ") +
             std::string(after_slash(step.what)) + lasting(step.time);
    case Kind::reminder:
      return "runs its reminder " + quote(step.what) + lasting(step.time);
    case Kind::event:
      return "handles a publication of " + short_name(step.object->type, step.object->id) +
             lasting(step.time);
    case Kind::follow:
      return "waits for a publication of " + short_name(step.object->type, step.object->id);
    case Kind::change:
      return "waits for a change of itself";
    case Kind::loads:
      return "is loaded for " + std::string(after_slash(step.what)) + lasting(step.time);
    case Kind::outside:
      return "waits in " + std::string(after_slash(step.what)) + ", without a turn" +
             lasting(step.time);
    case Kind::computes:
      return "computes";
    case Kind::call:
      return "waits for " + std::string(after_slash(step.what)) + " of " +
             short_name(step.object->type, step.object->id);
    case Kind::store:
      return "waits for the store, which has not answered its " + step.what + lasting(step.time);
    case Kind::lock:
      return "waits for " + escaped(step.what) + made_text(step) + holder_text(step);
    case Kind::waits:
      return "waits for " + escaped(step.what) + made_text(step);
    case Kind::again:
      return "waits for one of these locks itself: a cycle";
  }
  return {};
}

std::string_view kind_text(Kind kind) {
  constexpr std::array<std::string_view, 16> names = {
      "absent",   "moving", "idle",   "runs",   "loads", "outside", "computes", "call",
      "reminder", "event",  "follow", "change", "store", "lock",    "waits",    "cycle"};
  return names.at(static_cast<std::size_t>(kind));
}

bool is_sleep(const WaitStep& step) {
  return step.kind == Kind::waits && step.what == "sleep" && !step.deadline.is_never();
}

// What may change an object that waits for that.
std::string change_text(const WaitStep& step) {
  std::string text = "another call of " + short_name(step.object->type, step.object->id);
  if (step.timer_count > 0) text += ", one of its timers";
  if (step.reminder.empty()) return text;
  return text + ", or its reminder " + quote(step.reminder) + " in " +
         seconds_text(std::max(step.reminder_in, Duration::zero()));
}

// What would end the last step of a chain.
std::string end_of(const WaitStep& step) {
  switch (step.kind) {
    case Kind::store:
      return "an answer of the store";
    case Kind::lock:
      return "the release of the lock";
    case Kind::again:
      return "the first deadline, or a cancellation, of these";
    case Kind::computes:
      return "the return of the method";
    case Kind::moving:
      return "the end of the move";
    case Kind::call:
      return "the reply";
    case Kind::follow:
      return "a publication of " + short_name(step.object->type, step.object->id);
    case Kind::change:
      return change_text(step);
    case Kind::waits:
      if (is_sleep(step)) {
        return "the end of the sleep in " + seconds_text(step.deadline.remaining());
      }
      if (step.what.contains("receive")) return "a value that is sent";
      if (step.what.contains("send")) return "room in the channel";
      return (step.what.starts_with("the ") ? "" : "the ") + escaped(step.what);
    default:
      return {};
  }
}

Json link_json(const WaitStep& step, const std::string& object, const Node& node,
               std::size_t shard) {
  const auto address = [shard](coroutine::TaskId id) {
    return id == 0 ? Json()
                   : address_json({.scheduler = static_cast<std::uint32_t>(shard), .id = id});
  };
  return {{"object", step.of ? short_name(step.of->type, step.of->id) : object},
          {"node", node.config().name},
          {"shard", shard},
          {"kind", kind_text(step.kind)},
          {"text", text_of(step)},
          {"seconds", in_seconds(step.time)},
          {"task", address(step.task)},
          {"made_at", step.site ? Json(site_text(*step.site)) : Json()},
          {"holder", address(step.holder)},
          {"ends_with", end_of(step)},
          {"deadline_seconds", step.deadline.is_never() || is_sleep(step)
                                   ? Json()
                                   : Json(in_seconds(step.deadline.remaining()))}};
}

Json silent_link(const std::string& object, const std::string& node, const std::string& text) {
  return {{"object", object},
          {"node", node},
          {"kind", "silent"},
          {"text", text},
          {"ends_with", "an answer of that node, or another owner of " + object}};
}

std::string path_part(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      encoded += c;
    } else {
      encoded.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return encoded;
}

// --- All of them

Result<Json> links_of(Node& node, const ObjectPlace& place, const ObjectName& name) {
  if (place.is_here) return own_links(node, name);
  return far_page(node, *place.member, path_of(name) + "?format=json&links=1");
}

bool ends_a_clause(const Json& link) {
  const std::string_view kind = link.at("kind").text();
  constexpr std::array<std::string_view, 5> works = {"runs", "loads", "outside", "reminder",
                                                     "event"};
  return std::ranges::find(works, kind) == works.end();
}

// Of the links from that number on.
std::string sentence_of(const Json& links, std::size_t first) {
  std::string text;
  const auto all = links.elements();
  for (std::size_t i = first; i < all.size(); ++i) {
    text += all[i].at("text").text();
    if (i + 1 == all.size()) break;
    const std::string_view next_node = all[i + 1].at("node").text();
    if (!next_node.empty() && next_node != all[i].at("node").text()) {
      text += " on node " + escaped(next_node);
    }
    text += ends_a_clause(all[i]) ? ", which " : ", ";
  }
  return text;
}

// The earliest deadline of all that wait ends the chain, too.
std::string ends_of(const Json& links) {
  const auto all = links.elements();
  // An object that is followed may be idle: then the last wait is that for its publications.
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const Json& link) {
    return !link.at("ends_with").text().empty();
  });
  if (last == all.rend()) return {};
  std::string text = "It ends with " + std::string(last->at("ends_with").text());
  std::optional<double> earliest;
  for (const Json& link : all) {
    const Json& left = link.at("deadline_seconds");
    if (!left.is_null()) earliest = std::min(earliest.value_or(left.number()), left.number());
  }
  if (earliest) text += ", at the latest at a deadline in " + fixed_text(*earliest, 1) + "s";
  return text + ".";
}

class ChainWalk {
 public:
  explicit ChainWalk(Node& node) : node_(node) {}

  WaitChain run(ObjectName name) {
    const auto view = node_.cluster() == nullptr ? nullptr : node_.cluster()->view();
    for (std::size_t i = 0; i < objects_max; ++i) {
      seen_.insert({name.type, name.id});
      auto next = visit(view.get(), name);
      if (!next) break;
      name = *std::move(next);
      if (!seen_.contains({name.type, name.id})) continue;
      add({{"object", short_name(name.type, name.id)},
           {"kind", "cycle"},
           {"text", "waits for all of these: a cycle"},
           {"ends_with", "the first deadline, or a cancellation, of these"}});
      break;
    }
    chain_.sentence = sentence_of(chain_.links, 0);
    chain_.rest = sentence_of(chain_.links, 1);
    chain_.ends = ends_of(chain_.links);
    return std::move(chain_);
  }

 private:
  void add(Json link) { chain_.links.push_back(std::move(link)); }

  // Adds what one object waits for, and returns the object that it waits for.
  std::optional<ObjectName> visit(const ClusterView* view, const ObjectName& name) {
    const std::string object = short_name(name.type, name.id);
    const ObjectPlace place = place_of(node_, view, name);
    if (!place.is_here && place.member == nullptr) {
      add({{"object", object},
           {"kind", "unowned"},
           {"text", "has no owner now: calls wait until it has one"},
           {"ends_with", "a new owner of " + object}});
      return std::nullopt;
    }
    const auto links = links_of(node_, place, name);
    if (!links) {
      const std::string owner = place.is_here ? node_.config().name : place.member->name;
      add(silent_link(object, owner, no_answer_text(links.error())));
      return std::nullopt;
    }
    for (const Json& link : links->at("links").elements()) add(link);
    const Json& next = links->at("next");
    if (next.is_null()) return std::nullopt;
    return ObjectName{.type = std::string(next.at("type").text()),
                      .id = std::string(next.at("id").text())};
  }

  Node& node_;
  std::set<std::pair<std::string, std::string>> seen_;
  WaitChain chain_;
};

}  // namespace

WaitChain follow_waits(Node& node, const ObjectName& first) { return ChainWalk(node).run(first); }

std::string path_of(const ObjectName& name) {
  return "/objects/" + path_part(name.type) + "/" + path_part(name.id);
}

std::string short_name(std::string_view type, std::string_view id) {
  return std::string(type.substr(type.rfind('.') + 1)) + "/" + escaped(id);
}

ObjectPlace place_of(const Node& node, const ClusterView* view, const ObjectName& name) {
  const Partition partition =
      view == nullptr ? partition_of(name.type, name.id) : view->partition_hash(name.type)(name.id);
  for (const HostedObjects& hosted : node.hosted()) {
    if (hosted.type.name == name.type && hosted.ownership->epoch(partition) != 0) {
      return {.is_here = true};
    }
  }
  const auto* const group = view == nullptr ? nullptr : view->find_group(name.type);
  return {.member = group == nullptr ? nullptr : group->owner(partition).member};
}

Result<Json> own_links(Node& node, const ObjectName& name) {
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  const Partition partition =
      view == nullptr ? partition_of(name.type, name.id) : view->partition_hash(name.type)(name.id);
  const std::size_t its_shard = partition % node.shard_count();
  auto shards = from_each_shard(node, [name, its_shard](const Shard& shard) {
    return shard.index() == its_shard ? chain_of(shard, name.type, name.id) : ObjectChain();
  });
  if (!shards) return shards.error();
  const std::string object = short_name(name.type, name.id);
  Json links = Json::array();
  Json next;
  for (const ShardSilence& silence : shards->silent) {
    if (silence.shard != its_shard) continue;
    links.push_back(silent_link(object, node.config().name,
                                "is on a shard that hangs: " + silence_text(node, silence)));
  }
  for (std::size_t i = 0; i < shards->parts.size(); ++i) {
    if (shards->numbers[i] != its_shard) continue;
    const ObjectChain& chain = shards->parts[i];
    for (const WaitStep& step : chain.steps) {
      links.push_back(link_json(step, object, node, its_shard));
    }
    if (chain.next) next = {{"type", chain.next->type}, {"id", chain.next->id}};
  }
  return Json({{"links", std::move(links)}, {"next", std::move(next)}});
}

}  // namespace corolane::framework::detail
