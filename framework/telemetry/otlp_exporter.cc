// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_exporter.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "coroutine/task.h"
#include "net/crypto.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace {

using nlohmann::json;

// HTTP has deep frames.
constexpr coroutine::TaskOptions export_task = {.stack_size_bytes = 256 * 1024,
                                                .purpose = coroutine::StackPool::Purpose::control};

std::chrono::nanoseconds system_time() { return time_of_day().time_since_epoch(); }

// The statuses that the specification calls retryable; all others would be refused again.
bool may_pass(unsigned status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// The seconds of Retry-After; zero, which means our own delay, when it names a date instead.
std::chrono::milliseconds retry_after_of(const net::HttpResponse& response) {
  std::uint32_t seconds = 0;
  const std::string_view text = response.headers.find("Retry-After");
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return std::chrono::seconds(seconds);
}

// The number of spans that a collector rejected in a batch that it accepted.
std::uint64_t rejected_of(const std::string& body) {
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object() || !answer.contains("partialSuccess")) return 0;
  const json& partial = answer["partialSuccess"];
  if (!partial.is_object() || !partial.contains("rejectedSpans")) return 0;
  const json& count = partial["rejectedSpans"];
  if (count.is_number_unsigned()) return count.get<std::uint64_t>();
  if (!count.is_string()) return 0;
  const auto text = count.get<std::string>();
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

OtlpExporter::OtlpExporter(net::Network& network, Options options, OtlpResource resource)
    : network_(network), options_(std::move(options)), resource_(std::move(resource)) {}

OtlpExporter::~OtlpExporter() { stop(Deadline::passed()); }

void OtlpExporter::take(const rpc::SpanRecord& span) {
  if (stopping_.is_set() || queue_.size() >= options_.queue_count_max ||
      queue_bytes_ >= options_.queue_bytes_max) {
    ++statistics_.overflow_count;
    return;
  }
  const auto unix_time = options_.unix_time ? options_.unix_time() : system_time();
  queue_.push_back(otlp_span(span, unix_time - now().time_since_epoch()));
  queue_bytes_ += queue_.back().size();
  if (queue_.size() >= options_.batch_count_max) hurry_.set();
  if (is_running_) return;
  // When there is no stack for the task, the next span tries again.
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
  for (const std::string& span : batch) queue_bytes_ -= span.size();
  if (queue_.size() < options_.batch_count_max && !stopping_.is_set()) hurry_.reset();
  return batch;
}

void OtlpExporter::deliver(const Batch& batch) {
  const std::string body = otlp_request(resource_, batch);
  const Deadline end = Deadline::after(options_.batch_time_max);
  sending_count_ = batch.size();
  for (int failed_count = 1;; ++failed_count) {
    const Verdict verdict = send(body);
    if (!verdict.outcome && coroutine::is_cancelled()) {
      // The exporter was stopped, which says nothing about the collector.
      statistics_.unreachable_count += batch.size();
      break;
    }
    tell(verdict.outcome);
    if (verdict.outcome) {
      const std::uint64_t rejected = std::min<std::uint64_t>(verdict.rejected_count, batch.size());
      statistics_.sent_count += batch.size() - rejected;
      statistics_.refused_count += rejected;
      break;
    }
    if (!verdict.may_pass) {
      statistics_.refused_count += batch.size();
      break;
    }
    const Deadline next = Deadline::after(delay_after(verdict, failed_count));
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

OtlpExporter::Verdict OtlpExporter::send(const std::string& body) {
  const net::HttpRequest request{.method = "POST",
                                 .target = options_.path,
                                 .body = body,
                                 .headers = {{"Content-Type", "application/json"}}};
  const auto response = net::fetch_http(network_, options_.collector, request,
                                        Deadline::after(options_.request_time_max));
  if (!response) {
    // It is safe to send spans twice: they have the same ids, so the collector keeps one.
    const Code code = response.error().code();
    return {.outcome = response.error(),
            .may_pass = code != Code::invalid_argument && code != Code::resource_exhausted};
  }
  if (response->status >= 200 && response->status < 300) {
    return {.outcome = {}, .rejected_count = rejected_of(response->body)};
  }
  return {.outcome = Error(may_pass(response->status) ? Code::unavailable : Code::invalid_argument,
                           "the collector answers with status " + std::to_string(response->status)),
          .may_pass = may_pass(response->status),
          .retry_after = retry_after_of(*response)};
}

Duration OtlpExporter::delay_after(const Verdict& verdict, int failed_count) const {
  if (verdict.retry_after.count() > 0) {
    return std::min(verdict.retry_after, options_.retry_delay_max);
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
