// SPDX-License-Identifier: MIT
// The metrics of a node, for Prometheus (metric_text.h) and for collectors (otlp_metrics.h).
//
//   metrics.add([&](MetricWriter& out) {
//     out.gauge("corolane_chess_rooms", "Rooms that are open.", {}, rooms.size());
//   });
//
// Metrics are pulled: nothing is counted here. Each scrape calls each collector, which reads the
// counts that its module keeps anyway, so a metric costs nothing between scrapes.
//
// Names are corolane_<module>_<noun>_<unit>[_total] in base units (seconds, bytes); counters end
// in _total, nothing else does. Label values come from a small fixed set: each one is a series
// that Prometheus keeps for weeks.
//
// Each shard of a node has its own Metrics, which belongs to its thread; /metrics adds them up. A
// metric that every shard contributes to is added to each shard's; one that the node has once, such
// as a version, is added to the node's own, which belongs to the thread of the node.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/histogram.h"
#include "rpc/trace_context.h"

namespace corolane::framework {

struct MetricLabel {
  std::string_view name;   // lower_case words; not "le".
  std::string_view value;  // UTF-8: Prometheus refuses a whole scrape for one value that is not.
};

// A sample from a number of any type: a duration counts in seconds.
class MetricValue {
 public:
  MetricValue(std::integral auto value) : number_(static_cast<double>(value)) {}
  MetricValue(double value) : number_(value) {}
  template <typename Rep, typename Period>
  MetricValue(std::chrono::duration<Rep, Period> value)
      : number_(std::chrono::duration<double>(value).count()) {}

  double number() const { return number_; }

 private:
  double number_;
};

// How a Histogram is shown: it counts small units, while Prometheus wants base units.
struct MetricBuckets {
  std::span<const std::uint64_t> bounds;  // Rising, in the histogram's unit; +Inf is added.
  double units_per_base;                  // 1e6 when the histogram counts microseconds.
};

// A recent value of a histogram, and the trace of its call: what to look at when the bucket fills.
struct MetricExemplar {
  double value = 0;  // In base units.
  rpc::TraceContext trace = {};
  std::chrono::nanoseconds unix_time{};
};

// A metric with all of its series.
struct MetricFamily {
  // The properties that are written once.
  struct Kind {
    std::string help;
    std::string_view type;            // "counter", "gauge" or "histogram".
    std::vector<double> bounds = {};  // For a histogram, in base units.
  };
  struct Series {
    // A single number; or for a histogram the count up to each bound, the total count, and the sum.
    std::vector<double> values;
    std::vector<MetricExemplar> exemplars = {};  // One for a bucket at most.
  };

  // The bucket of a value: the number of bounds below it.
  std::size_t bucket_of(double value) const;

  Kind kind;
  std::map<std::string, Series, std::less<>> series = {};  // The key is `a="1",b="2"`, escaped.
};
using MetricFamilies = std::map<std::string, MetricFamily, std::less<>>;  // By name.

// Collects the samples of one scrape. It is a bug to break a naming rule, or to give a family two
// help texts, types or sets of bounds, or a series two values: check() ends the process.
class MetricWriter {
 public:
  using Labels = std::initializer_list<MetricLabel>;

  // `help` is one sentence. A counter only rises.
  void counter(std::string_view name, std::string_view help, Labels labels, MetricValue value);
  void gauge(std::string_view name, std::string_view help, Labels labels, MetricValue value);
  // Counts at a bound are exact up to the width of the histogram's own buckets, 6.25 %. Of several
  // exemplars in a bucket the newest is kept.
  void histogram(std::string_view name, std::string_view help, Labels labels,
                 const Histogram& values, const MetricBuckets& buckets,
                 std::span<const MetricExemplar> exemplars = {});

  // Adds the samples of another shard: a series that both have becomes the sum of the two.
  void add(const MetricWriter& other);
  // Adds the samples of another thread as series of their own, which have one more label.
  void add_apart(const MetricWriter& other, const MetricLabel& label);

  const MetricFamilies& families() const { return families_; }
  // prometheus_text() of them.
  std::string text() const;

 private:
  MetricFamily& family(std::string_view name, const MetricFamily::Kind& kind);
  MetricFamily::Series& add_series(std::string_view name, const MetricFamily::Kind& kind,
                                   std::string labels, MetricFamily::Series series);

  MetricFamilies families_;
};

class Metrics {
 public:
  using Collector = std::function<void(MetricWriter& out)>;

  // Calls `collector` at every scrape from now on. It must not suspend, and the things it refers to
  // outlive the last scrape.
  void add(Collector collector) { collectors_.push_back(std::move(collector)); }

  // One scrape of this shard; metrics_text() is that of a node. Never suspends.
  void collect(MetricWriter& out) const;
  std::string text() const;

 private:
  std::vector<Collector> collectors_;
};

}  // namespace corolane::framework
