// SPDX-License-Identifier: MIT
// A span: a timed operation in one process, as a part of a trace.
//
//   rpc::Span span = tracer.span("load player");
//   span.attribute("player.id", id);
//   if (auto loaded = store.load(id); !loaded) span.fail(loaded.error());
//
// Calls made and spans opened while it is open become its children. A span that is not recorded,
// because its trace is not sampled, costs no allocation and no clock reading.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

struct CallScope;
class Tracer;

// With the numbers of OTLP.
enum class SpanKind : std::uint8_t {
  internal = 1,
  server = 2,
  client = 3,
  producer = 4,
  consumer = 5
};

// The value of an attribute. Holds a view of a text: valid only during the call it is passed to.
class SpanValue {
 public:
  using Variant = std::variant<bool, std::int64_t, double, std::string_view>;

  template <std::integral T>
  SpanValue(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else {
      value_ = static_cast<std::int64_t>(value);
    }
  }
  SpanValue(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  SpanValue(const std::convertible_to<std::string_view> auto& value)
      : value_(std::string_view(value)) {}

  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

using SpanAttribute = std::pair<std::string_view, SpanValue>;

// The record of a span that has ended.
struct SpanRecord {
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  using Attributes = std::vector<std::pair<std::string, Value>>;
  struct Event {
    std::string name;
    TimePoint time;
    Attributes attributes;
  };

  TraceContext context;
  std::uint64_t parent_span_id = 0;  // 0 for the root of a trace.
  SpanKind kind = SpanKind::internal;
  std::string name;
  TimePoint start;
  TimePoint end;
  Attributes attributes;
  std::vector<Event> events;
  std::uint32_t dropped_attribute_count = 0;
  std::uint32_t dropped_event_count = 0;
  bool has_failed = false;
  std::string failure;  // For people; may be empty.
};

// Belongs to the task that opened it, and ends there, after the spans opened inside it.
class Span {
 public:
  ~Span() { end(); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  bool is_recorded() const { return record_ != nullptr; }

  // Attributes and events above the tracer's bounds are dropped and counted, and texts are cut.
  void attribute(std::string_view key, const SpanValue& value) {
    if (record_) add_attribute(key, value);
  }
  void event(std::string_view name, std::initializer_list<SpanAttribute> attributes = {}) {
    if (record_) add_event(name, attributes);
  }
  void fail(const Error& error) {
    if (record_) set_failure(error.code(), error.message());
  }

  // Ends the span, as its destructor does.
  void end() {
    if (record_) finish();
  }

 private:
  friend class Tracer;

  // A span that is not recorded.
  Span() = default;
  // Begins at `start`. Nothing is recorded when it ends before `min`.
  Span(Tracer& tracer, SpanKind kind, std::string_view name, const TraceContext& context,
       std::uint64_t parent_span_id, TimePoint start, Duration min = {});
  // The same outside of any task: nothing becomes its child by itself.
  Span(Tracer& tracer, SpanKind kind, std::string_view name, const TraceContext& context,
       std::uint64_t parent_span_id);

  void begin(SpanKind kind, std::string_view name, const TraceContext& context,
             std::uint64_t parent_span_id, TimePoint start);
  void add_attribute(std::string_view key, const SpanValue& value);
  void add_event(std::string_view name, std::initializer_list<SpanAttribute> attributes);
  void set_failure(Code code, std::string_view message);
  void end_at(TimePoint time);
  void finish();
  void append(SpanRecord::Attributes& attributes, std::string_view key, const SpanValue& value);

  Tracer* tracer_ = nullptr;
  std::unique_ptr<SpanRecord> record_;
  CallScope* scope_ = nullptr;  // The scope of the task that opened it, if one has.
  TraceContext outer_;          // The trace of the scope before.
  Duration min_{};
};

}  // namespace corolane::rpc
