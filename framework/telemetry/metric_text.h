// SPDX-License-Identifier: MIT
// Metrics as the texts that Prometheus reads: its own format, and OpenMetrics, which has exemplars.
//
//   MetricWriter out;
//   metrics.collect(out);
//   const bool is_open = wants_open_metrics(request.header("Accept"));
//   return HttpResponse{.content_type = is_open ? open_metrics_type : prometheus_type,
//                       .body = is_open ? open_metrics_text(out.families()) : out.text()};
#pragma once

#include <string>
#include <string_view>

#include "framework/telemetry/metrics.h"

namespace corolane::framework {

inline constexpr const char* prometheus_type = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr const char* open_metrics_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// Families by name, each with HELP and TYPE once and its series by labels.
std::string prometheus_text(const MetricFamilies& families);

// The same as OpenMetrics 1.0
// (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md): with units
// and exemplars, and the end marked.
std::string open_metrics_text(const MetricFamilies& families);

// Whether a header Accept names OpenMetrics 1.0, as that of Prometheus does.
bool wants_open_metrics(std::string_view accept);

// Backslash and line feed are escaped in both formats; quotes are where they would end the text.
std::string metric_escaped(std::string_view text, bool in_quotes);

// "seconds" or "bytes", the last word of the name of a metric apart from "total"; empty: a number.
std::string_view metric_unit(std::string_view name);

}  // namespace corolane::framework
