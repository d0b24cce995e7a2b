// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_exporter.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "coroutine/task.h"
#include "net/crypto.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace {

// HTTP and TLS have deep frames.
constexpr coroutine::TaskOptions export_task = {.stack_size_bytes = 256 * 1024,
                                                .purpose = coroutine::StackPool::Purpose::control};

constexpr Duration partial_interval = std::chrono::minutes(1);

}  // namespace

OtlpExporter::OtlpExporter(OtlpTransport& transport, Options options)
    : transport_(transport), options_(std::move(options)) {}

OtlpExporter::~OtlpExporter() { stop(Deadline::passed()); }

bool OtlpExporter::has_room() {
  if (!is_running_ && !queue_.empty() && !stopping_.is_set()) start();
  const bool has_room = !stopping_.is_set() && queue_.size() < options_.queue_count_max &&
                        queue_bytes_ < options_.queue_bytes_max;
  if (!has_room) ++statistics_.overflow_count;
  return has_room;
}

void OtlpExporter::put(std::string item) {
  queue_bytes_ += item.size();
  queue_.push_back(std::move(item));
  if (queue_.size() >= options_.batch_count_max) hurry_.set();
  if (!is_running_) start();
}

// When there is no stack for the task, the next item tries again.
void OtlpExporter::start() {
  is_running_ = tasks_.spawn("otlp export", [this] { send_all(); }, export_task).has_value();
}

void OtlpExporter::send_all() {
  // The task was spawned by the call that ended first; this detaches it from that call's scope.
  rpc::CallScope::enter({});
  while (!queue_.empty()) {
    if (!wait_for_batch()) break;
    deliver(take_batch());
  }
  is_running_ = false;
}

Result<void> OtlpExporter::wait_for_batch() {
  auto waited = hurry_.wait(Deadline::after(options_.interval));
  if (!waited && waited.error().code() == Code::cancelled) return waited;
  return {};
}

OtlpExporter::Batch OtlpExporter::take_batch() {
  const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), options_.batch_count_max));
  Batch batch(std::make_move_iterator(queue_.begin()),
              std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  for (const std::string& item : batch) queue_bytes_ -= item.size();
  if (queue_.size() < options_.batch_count_max && !stopping_.is_set()) hurry_.reset();
  return batch;
}

void OtlpExporter::deliver(const Batch& batch) {
  const std::string body = options_.body(batch);
  const Deadline end = Deadline::after(options_.batch_time_max);
  sending_count_ = batch.size();
  for (int failed_count = 1;; ++failed_count) {
    const OtlpAnswer answer = transport_.post(options_.path, body);
    if (!answer.outcome && coroutine::is_cancelled()) {
      // The exporter was stopped, which says nothing about the collector.
      statistics_.unreachable_count += batch.size();
      break;
    }
    tell(answer.outcome);
    if (answer.outcome) {
      note_accepted(answer, batch.size());
      break;
    }
    if (!answer.may_pass) {
      statistics_.refused_count += batch.size();
      break;
    }
    const Deadline next = Deadline::after(delay_after(answer, failed_count));
    const bool is_over = stopping_.is_set() || next > end;
    const auto waited = is_over ? Result<void>() : stopping_.wait(next);
    if (is_over || (!waited && waited.error().code() == Code::cancelled)) {
      statistics_.unreachable_count += batch.size();
      break;
    }
    ++statistics_.retry_count;
  }
  sending_count_ = 0;
}

void OtlpExporter::note_accepted(const OtlpAnswer& answer, std::size_t count) {
  const std::uint64_t rejected = std::min<std::uint64_t>(answer.rejected_count, count);
  statistics_.sent_count += count - rejected;
  statistics_.refused_count += rejected;
  untold_count_ += rejected;
  const bool is_news = rejected > 0 || !answer.message.empty();
  if (!is_news || !options_.on_partial) return;
  const TimePoint time = now();
  if (told_at_ != TimePoint{} && time - told_at_ < partial_interval) return;
  told_at_ = time;
  options_.on_partial(std::exchange(untold_count_, 0), answer.message);
}

Duration OtlpExporter::delay_after(const OtlpAnswer& answer, int failed_count) const {
  if (answer.retry_after.count() > 0) {
    return std::min(answer.retry_after, options_.retry_delay_max);
  }
  constexpr int doublings_max = 16;
  const Duration range = std::min<Duration>(
      options_.retry_delay_max,
      options_.retry_delay_min * (1 << std::min(failed_count - 1, doublings_max)));
  std::array<std::byte, 2> random;
  net::fill_with_random_bytes(random);
  const auto share = std::to_integer<int>(random[0]) << 8 | std::to_integer<int>(random[1]);
  return range / 2 + range / 2 * share / 0x10000;
}

void OtlpExporter::tell(const Result<void>& outcome) {
  if (outcome.has_value() == is_well_) return;
  is_well_ = outcome.has_value();
  if (options_.on_change) options_.on_change(outcome);
}

void OtlpExporter::stop(Deadline deadline) {
  stopping_.set();
  hurry_.set();
  if (!tasks_.join(deadline)) tasks_.cancel_and_join();
  statistics_.unreachable_count += queue_.size();
  queue_.clear();
  queue_bytes_ = 0;
}

OtlpExporter::Statistics OtlpExporter::statistics() const {
  Statistics statistics = statistics_;
  statistics.queued_count = queue_.size() + sending_count_;
  statistics.queued_bytes = queue_bytes_;
  return statistics;
}

}  // namespace corolane::framework
