// SPDX-License-Identifier: MIT
#include "rpc/server/detail/session_groups.h"

#include <limits>
#include <string>
#include <utility>

#include "rpc/server/detail/session_table.h"
#include "rpc/session_moves.pb.h"
#include "rpc/session_registry.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc {

News News::of(const google::protobuf::MessageLite& message) {
  return {.type = method_id(message.GetTypeName()),
          .bytes = std::make_shared<const std::string>(message.SerializeAsString())};
}

}  // namespace corolane::rpc

namespace corolane::rpc::detail {

News SessionGroups::end_of(const Error& reason) {
  GroupEnd end;
  end.set_code(static_cast<std::uint32_t>(reason.code()));
  end.set_reason(reason.message());
  return News::of(end);
}

SessionGroups::~SessionGroups() {
  if (!has_parted_) table_.group_count_ -= groups_.size();
}

Result<std::uint32_t> SessionGroups::follow(std::unique_ptr<PushSource> source) {
  if (groups_.size() >= count_max || last_number_ == std::numeric_limits<std::uint32_t>::max()) {
    return Error(Code::resource_exhausted,
                 "a session follows at most " + std::to_string(count_max) + " groups");
  }
  if (table_.group_count_ >= table_.options_.group_count_max) {
    return Error(Code::resource_exhausted, "the sessions of this server follow too many groups");
  }
  add({.number = ++last_number_, .source = std::move(source)});
  return last_number_;
}

void SessionGroups::add(Group group) {
  groups_.push_back(std::move(group));
  ++table_.group_count_;
  table_.has_news(session_);
}

bool SessionGroups::unfollow(std::uint32_t group) {
  table_.group_count_ -=
      std::erase_if(groups_, [group](const Group& each) { return each.number == group; });
  return group != 0 && group <= last_number_;
}

std::optional<SessionGroups::Next> SessionGroups::poll() {
  for (std::size_t left = groups_.size(); left > 0; --left) {
    const auto group = groups_.begin();
    groups_.splice(groups_.end(), groups_, group);
    if (!group->is_readable) continue;
    if (auto next = poll(group)) return next;
  }
  return std::nullopt;
}

std::optional<SessionGroups::Next> SessionGroups::poll(std::list<Group>::iterator group) {
  const std::uint32_t number = group->number;
  Result<std::optional<News>> polled = std::optional<News>();
  if (group->source == nullptr) {
    polled = *group->failure;
  } else {
    polled = group->source->poll();
  }
  if (!polled) {
    unfollow(number);
    return Next{.group = number, .news = end_of(polled.error())};
  }
  if (!*polled) {
    await(*group);
    return std::nullopt;
  }
  return Next{.group = number, .news = **std::move(polled)};
}

void SessionGroups::await(Group& group) {
  group.is_readable = false;
  group.source->when_readable([this, &group] {
    group.is_readable = true;
    if (!has_parted_) table_.has_news(session_);
  });
}

void SessionGroups::add_to(SessionRecord& record) const {
  record.set_last_group(last_number_);
  for (const Group& group : groups_) {
    GroupRecord& kept = *record.add_groups();
    kept.set_number(group.number);
    if (group.source != nullptr) kept.set_source(group.source->record());
  }
}

std::vector<std::string> SessionGroups::records() const {
  std::vector<std::string> records;
  for (const Group& group : groups_) {
    if (group.source != nullptr) records.push_back(group.source->record());
  }
  return records;
}

void SessionGroups::take_over(const SessionRecord& record, SessionRegistry& registry) {
  last_number_ = record.last_group();
  for (const GroupRecord& kept : record.groups()) {
    auto source = registry.follow_again(kept.source());
    if (source) {
      add({.number = kept.number(), .source = *std::move(source)});
    } else {
      add({.number = kept.number(), .source = nullptr, .failure = source.error()});
    }
  }
}

void SessionGroups::part() {
  has_parted_ = true;
  table_.group_count_ -= groups_.size();
}

}  // namespace corolane::rpc::detail
