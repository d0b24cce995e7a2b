// What a node measures, as Prometheus reads it: text exposition format 0.0.4.
//
//   metrics.add([&](MetricWriter& out) {
//     out.gauge("corolane_chess_rooms", "Rooms that are open.", {}, rooms.size());
//   });
//
// Pull: nothing is counted here. Each collector is called at each scrape and reads what its module
// counts anyway, so a metric costs nothing until somebody looks.
//
// Names are corolane_<module>_<noun>_<unit>[_total] in base units (seconds, bytes); counters end
// in _total, nothing else does. Label values come from a small fixed set: each one is a series
// that Prometheus keeps for weeks.
//
// Each shard of a node has its Metrics, which belongs to its thread; /metrics adds them up. So what
// a shard has a share of is given to the one of each shard, and what the node has once, such as a
// version, to the one of the first shard alone.
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

namespace corolane::framework {

struct MetricLabel {
  std::string_view name;   // lower_case words; not "le".
  std::string_view value;  // UTF-8: Prometheus refuses a whole scrape for one value that is not.
};

// A number of any type as a sample: a duration counts in seconds.
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

// How a Histogram is shown: its values are counts of small units, Prometheus wants base units.
struct MetricBuckets {
  std::span<const std::uint64_t> bounds;  // Rising, in the histogram's unit; +Inf is added.
  double units_per_base;                  // 1e6 when the histogram counts microseconds.
};

// Collects the samples of one scrape. Breaking a rule of naming, giving a family two helps, types
// or sets of bounds, or a series two values is a bug: check() ends the process.
class MetricWriter {
 public:
  using Labels = std::initializer_list<MetricLabel>;

  // `help` is one sentence. A counter only rises.
  void counter(std::string_view name, std::string_view help, Labels labels, MetricValue value);
  void gauge(std::string_view name, std::string_view help, Labels labels, MetricValue value);
  // Counts at a bound are right up to the width of the histogram's own buckets, 6.25 %.
  void histogram(std::string_view name, std::string_view help, Labels labels,
                 const Histogram& values, const MetricBuckets& buckets);

  // Adds what another shard has written: a series that both have is the sum of the two.
  void add(const MetricWriter& other);

  // Families by name, each with HELP and TYPE once and its series by labels.
  std::string text() const;

 private:
  // One, or of a histogram how many there were up to each of its bounds and in all, and their sum.
  using Values = std::vector<double>;

  // What is said of a family once.
  struct Kind {
    std::string help;
    std::string_view type;
    std::vector<double> bounds = {};  // Of a histogram, in base units.
  };
  struct Family {
    Kind kind;
    std::map<std::string, Values, std::less<>> series = {};  // By the text of the labels.
  };

  Family& family(std::string_view name, const Kind& kind);
  void add_series(std::string_view name, const Kind& kind, std::string labels, Values values);

  std::map<std::string, Family, std::less<>> families_;
};

class Metrics {
 public:
  using Collector = std::function<void(MetricWriter& out)>;

  // Calls `collector` at every scrape from now on; it must not suspend, and what it refers to
  // lives as long as there are scrapes.
  void add(Collector collector) { collectors_.push_back(std::move(collector)); }

  // One scrape of this shard; that of a node is metrics_text(). Never suspends.
  void collect(MetricWriter& out) const;
  std::string text() const;

  // The Content-Type of text().
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  std::vector<Collector> collectors_;
};

}  // namespace corolane::framework
