// SPDX-License-Identifier: MIT
#include "coroutine/base/histogram.h"

#include <algorithm>
#include <cmath>

namespace corolane {

void Histogram::add(const Histogram& other) {
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    buckets_[bucket] += other.buckets_[bucket];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const double share = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_);
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(upper_bound_of(bucket), max_);
  }
  return max_;
}

std::uint64_t Histogram::count_up_to(std::uint64_t bound) const {
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < bucket_count && upper_bound_of(bucket) <= bound; ++bucket) {
    seen += buckets_[bucket];
  }
  return bound >= max_ ? count_ : seen;
}

std::uint64_t Histogram::upper_bound_of(std::size_t bucket) {
  if (bucket < (1u << sub_bits)) return bucket;
  const auto shift = (bucket >> sub_bits) - 1;
  const std::uint64_t low = (std::uint64_t{1} << sub_bits) + (bucket & ((1u << sub_bits) - 1));
  return ((low + 1) << shift) - 1;
}

}  // namespace corolane
