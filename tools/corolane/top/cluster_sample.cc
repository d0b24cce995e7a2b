// SPDX-License-Identifier: MIT
#include "tools/corolane/top/cluster_sample.h"

#include <nlohmann/json.hpp>

#include "coroutine/base/text.h"

namespace corolane::tools::cli::top {
namespace {

using Json = nlohmann::json;

std::optional<double> figure_of(const Json& member, const char* key) {
  const auto found = member.find(key);
  if (found == member.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// The escaped text; empty when it is missing or null.
std::string word_of(const Json& member, const char* key) {
  const auto found = member.find(key);
  if (found == member.end() || !found->is_string()) return {};
  return escaped(found->get<std::string>());
}

MemberSample member_of(const Json& member) {
  MemberSample sample{.node = escaped(member.at("name").get<std::string>())};
  sample.state = word_of(member, "state");
  sample.answers = sample.state != "not answering";
  sample.version = word_of(member, "version");
  sample.note = word_of(member, "note");
  sample.admin = word_of(member, "admin");
  sample.calls_per_second = figure_of(member, "calls_per_second");
  sample.errors_per_second = figure_of(member, "errors_per_second");
  sample.refusals_per_second = figure_of(member, "refusals_per_second");
  sample.p99_seconds = figure_of(member, "p99_seconds");
  sample.objects = figure_of(member, "objects");
  sample.cpu = figure_of(member, "cpu");
  sample.memory_bytes = figure_of(member, "memory_bytes");
  sample.loop_delay_seconds = figure_of(member, "loop_delay_seconds");
  return sample;
}

}  // namespace

Result<ClusterSample> read_cluster(std::string_view json) {
  try {
    ClusterSample cluster;
    const Json page = Json::parse(json);
    for (const Json& member : page.at("members")) cluster.members.push_back(member_of(member));
    return cluster;
  } catch (const Json::exception& exception) {
    return Error(Code::invalid_argument,
                 std::string("the page is not as expected: ") + exception.what());
  }
}

}  // namespace corolane::tools::cli::top
