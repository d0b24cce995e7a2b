// SPDX-License-Identifier: MIT
#include "rpc/observe/span.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"
#include "rpc/call_scope.h"
#include "rpc/observe/tracing.h"

namespace corolane::rpc {

Span::Span(Tracer& tracer, SpanKind kind, std::string_view name, const TraceContext& context,
           std::uint64_t parent_span_id, TimePoint start, Duration min)
    : tracer_(&tracer),
      record_(std::make_unique<SpanRecord>()),
      scope_(&CallScope::current_or_new()),
      min_(min) {
  begin(kind, name, context, parent_span_id, start);
  outer_ = std::exchange(scope_->trace, context);
}

Span::Span(Tracer& tracer, SpanKind kind, std::string_view name, const TraceContext& context,
           std::uint64_t parent_span_id)
    : tracer_(&tracer), record_(std::make_unique<SpanRecord>()) {
  begin(kind, name, context, parent_span_id, now());
}

void Span::begin(SpanKind kind, std::string_view name, const TraceContext& context,
                 std::uint64_t parent_span_id, TimePoint start) {
  ++tracer_->statistics_.open_count;
  record_->context = context;
  record_->parent_span_id = parent_span_id;
  record_->kind = kind;
  record_->name = cut_utf8(name, tracer_->options_.text_bytes_max);
  record_->start = start;
}

void Span::append(SpanRecord::Attributes& attributes, std::string_view key,
                  const SpanValue& value) {
  const std::size_t bytes_max = tracer_->options_.text_bytes_max;
  if (attributes.size() >= tracer_->options_.attribute_count_max) {
    ++record_->dropped_attribute_count;
    return;
  }
  auto owned = std::visit(
      [&](const auto& held) -> SpanRecord::Value {
        if constexpr (std::is_same_v<decltype(held), const std::string_view&>) {
          return std::string(cut_utf8(held, bytes_max));
        } else {
          return held;
        }
      },
      value.get());
  attributes.emplace_back(cut_utf8(key, bytes_max), std::move(owned));
}

void Span::add_attribute(std::string_view key, const SpanValue& value) {
  append(record_->attributes, key, value);
}

void Span::add_event(std::string_view name, std::initializer_list<SpanAttribute> attributes) {
  if (record_->events.size() >= tracer_->options_.event_count_max) {
    ++record_->dropped_event_count;
    return;
  }
  SpanRecord::Event& event = record_->events.emplace_back();
  event.name = cut_utf8(name, tracer_->options_.text_bytes_max);
  event.time = now();
  for (const auto& [key, value] : attributes) append(event.attributes, key, value);
}

void Span::set_failure(Code code, std::string_view message) {
  record_->has_failed = true;
  record_->failure = cut_utf8(message, tracer_->options_.text_bytes_max);
  add_attribute("error.type", to_string(code));
}

void Span::end_at(TimePoint time) {
  if (scope_ != nullptr) {
    check(scope_ == CallScope::current(), "a span ends in the task that opened it");
    scope_->trace = outer_;
  }
  record_->end = std::max(time, record_->start);
  --tracer_->statistics_.open_count;
  if (record_->end - record_->start >= min_) {
    ++tracer_->statistics_.recorded_count;
    tracer_->sink_(*record_);
  }
  record_.reset();
}

void Span::finish() { end_at(now()); }

}  // namespace corolane::rpc
