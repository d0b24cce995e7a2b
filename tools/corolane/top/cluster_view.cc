// SPDX-License-Identifier: MIT
#include "tools/corolane/top/cluster_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/corolane/figures.h"

namespace corolane::tools::cli::top {
namespace {

using Figure = std::optional<double> MemberSample::*;

Cell figure_cell(const std::optional<double>& figure, std::string (*text)(double)) {
  return figure ? Cell(text(*figure), *figure) : Cell("-", -1);
}

std::string latency_text(double seconds) { return time_text(seconds * 1e9); }

std::string state_text(const MemberSample& member) {
  if (!member.answers) return "does not answer";
  return member.state.empty() ? "-" : member.state;
}

// What Enter shows of a node that it cannot go to.
std::vector<std::string> details_of_member(const MemberSample& member) {
  std::vector<std::string> lines = {member.node + "  " + state_text(member)};
  if (!member.note.empty()) lines.push_back(member.note);
  if (member.admin.empty()) {
    lines.emplace_back("its admin address is not known here: use corolane top HOST:PORT");
  }
  return lines;
}

Row member_row(const MemberSample& member) {
  return {.id = member.node,
          .cells = {Cell(member.node), Cell(state_text(member)),
                    Cell(member.version.empty() ? "-" : member.version),
                    figure_cell(member.calls_per_second, count_text),
                    figure_cell(member.errors_per_second, count_text),
                    figure_cell(member.refusals_per_second, count_text),
                    figure_cell(member.p99_seconds, latency_text),
                    figure_cell(member.objects, count_text), figure_cell(member.cpu, percent_text),
                    figure_cell(member.memory_bytes, bytes_text),
                    figure_cell(member.loop_delay_seconds, latency_text)},
          .details = details_of_member(member),
          .peer = member.answers ? member.admin : std::string()};
}

double sum_of(const ClusterSample& cluster, Figure figure) {
  double sum = 0;
  for (const MemberSample& member : cluster.members) sum += (member.*figure).value_or(0);
  return sum;
}

std::string rate_text(const ClusterSample& cluster, Figure figure) {
  return count_text(sum_of(cluster, figure)) + "/s";
}

}  // namespace

Table cluster_table(const ClusterSample& cluster) {
  Table table{.columns = {{"NODE", 'n', true},
                          {"STATE", 'e', true},
                          {"VERSION", 'v', true},
                          {"CALLS/S", 'a', false},
                          {"ERRORS/S", 'o', false},
                          {"REFUSALS/S", 'f', false},
                          {"P99", 'l', false},
                          {"OBJECTS", 'b', false},
                          {"CPU", 'u', false},
                          {"MEMORY", 'y', false},
                          {"LOOP DELAY", 'd', false}},
              .rows = {},
              .count = cluster.members.size()};
  for (const MemberSample& member : cluster.members) table.rows.push_back(member_row(member));
  return table;
}

std::vector<SummaryLine> cluster_summary(const ClusterSample& cluster) {
  const auto silent_count =
      std::ranges::count_if(cluster.members, [](const auto& one) { return !one.answers; });
  std::string nodes = std::to_string(cluster.members.size());
  if (silent_count > 0) nodes += "  " + std::to_string(silent_count) + " without an answer";
  return {{"nodes", nodes},
          {"calls", rate_text(cluster, &MemberSample::calls_per_second) + "  errors " +
                        rate_text(cluster, &MemberSample::errors_per_second) + "  refusals " +
                        rate_text(cluster, &MemberSample::refusals_per_second)},
          {"objects", count_text(sum_of(cluster, &MemberSample::objects))}};
}

std::string cluster_json(const ClusterSample& cluster) {
  using Json = nlohmann::ordered_json;
  const auto figure = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json members = Json::array();
  for (const MemberSample& member : cluster.members) {
    members.push_back({{"name", member.node},
                       {"state", state_text(member)},
                       {"version", member.version},
                       {"note", member.note},
                       {"admin", member.admin},
                       {"calls_per_second", figure(member.calls_per_second)},
                       {"errors_per_second", figure(member.errors_per_second)},
                       {"refusals_per_second", figure(member.refusals_per_second)},
                       {"p99_seconds", figure(member.p99_seconds)},
                       {"objects", figure(member.objects)},
                       {"cpu", figure(member.cpu)},
                       {"memory_bytes", figure(member.memory_bytes)},
                       {"loop_delay_seconds", figure(member.loop_delay_seconds)}});
  }
  const Json json = {{"members", std::move(members)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace corolane::tools::cli::top
