// SPDX-License-Identifier: MIT
#include "framework/wire/detail/call_chain.h"

#include <algorithm>
#include <utility>

namespace corolane::framework::detail {

constinit coroutine::TaskLocal<CallChain, coroutine::Inheritance::copy> call_chain;

namespace {

bool is_of(const CallChain::Link& link, std::string_view type, std::string_view id) {
  return link.id == id && link.method.size() > type.size() && link.method[type.size()] == '/' &&
         link.method.starts_with(type);
}

void append(std::string& text, std::string_view method, std::string_view id) {
  text.append(method).append("(\"").append(id).append("\")");
}

Error too_long() {
  return Error(Code::failed_precondition, "more than " + std::to_string(CallChain::length_max) +
                                              " calls of objects would wait for one another");
}

}  // namespace

void CallChain::enter(CallChain chain) { call_chain.set(std::move(chain)); }

std::size_t CallChain::Frame::write_name(std::span<char> room) const {
  std::size_t size = 0;
  const auto write = [&](std::string_view text) {
    const std::size_t fits = std::min(text.size(), room.size() - size);
    std::copy_n(text.begin(), fits, room.begin() + static_cast<std::ptrdiff_t>(size));
    size += fits;
  };
  write(method_);
  write("(\"");
  write(id_);
  write("\")");
  return size;
}

std::shared_ptr<const CallChain::Link> CallChain::link_of_frame() const {
  if (frame_->own_ == nullptr) {
    frame_->own_ =
        std::make_shared<Link>(frame_->parent_, frame_->method_, frame_->id_, frame_->epoch_);
    frame_->own_->is_outside = frame_->is_outside_;
  }
  return frame_->own_;
}

void CallChain::Link::end() {
  has_ended = true;
  let_go(std::move(parent));
}

void CallChain::Link::let_go(std::shared_ptr<const Link> link) {
  // The last owner of a shared link continues from there.
  while (link != nullptr && link.use_count() == 1) link = std::exchange(link->parent, nullptr);
}

Result<std::shared_ptr<const CallChain::Link>> link_of(std::span<const rpc::ObjectCall> calls) {
  if (calls.size() > CallChain::length_max) return too_long();
  std::shared_ptr<const CallChain::Link> link;
  for (const rpc::ObjectCall& call : calls) {
    link = std::make_shared<CallChain::Link>(std::move(link), call.method, call.id);
  }
  return link;
}

std::vector<rpc::ObjectCall> calls_of(const CallChain::Link* link) {
  std::vector<rpc::ObjectCall> calls;
  for (; link != nullptr && !link->has_ended; link = link->parent.get()) {
    if (!link->is_outside) calls.push_back({.method = link->method, .id = link->id});
  }
  std::ranges::reverse(calls);
  return calls;
}

const CallChain::Link* find_call(const CallChain::Link* link, std::string_view type,
                                 std::string_view id) {
  for (; link != nullptr && !link->has_ended; link = link->parent.get()) {
    if (!link->is_outside && is_of(*link, type, id)) return link;
  }
  return nullptr;
}

std::string text_of_calls(const CallChain::Link* link, std::string_view method,
                          std::string_view id) {
  std::string text;
  for (const rpc::ObjectCall& call : calls_of(link)) {
    append(text, call.method, call.id);
    text.append(" -> ");
  }
  append(text, method, id);
  return text;
}

Result<void> check_may_call(const CallChain::Link* link, std::string_view method,
                            std::string_view type, std::string_view id) {
  std::size_t depth = 0;
  for (const CallChain::Link* at = link; at != nullptr && !at->has_ended; at = at->parent.get()) {
    if (at->is_outside) continue;
    ++depth;
    if (!is_of(*at, type, id)) continue;
    std::string cycle;
    const auto calls = calls_of(link);
    for (const rpc::ObjectCall& call : std::span(calls).last(depth)) {
      append(cycle, call.method, call.id);
      cycle.append(" -> ");
    }
    append(cycle, method, id);
    return Error(Code::failed_precondition, "a cycle of calls would wait for itself: " + cycle);
  }
  if (depth >= CallChain::length_max) return too_long();
  return {};
}

}  // namespace corolane::framework::detail
