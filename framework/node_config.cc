#include "framework/node_config.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "framework/admin.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

bool is_name(std::string_view text) {
  constexpr std::size_t length_max = 63;
  return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

// Gathers what is wrong, a line each.
class Problems {
 public:
  explicit Problems(const config::Origins& origins) : origins_(origins) {}

  void add(const std::string& key, std::string_view message) {
    if (!text_.empty()) text_ += '\n';
    if (const auto origin = origins_.find(key); origin != origins_.end()) {
      text_.append(origin->second).append(": ");
    }
    text_.append(key).append(": ").append(message);
  }
  const std::string& text() const { return text_; }

 private:
  const config::Origins& origins_;
  std::string text_;
};

}  // namespace

void describe(config::Section& section, StacksConfig& value) {
  section.field("count_max", value.count_max,
                "Coroutines that may exist at once; one more call is refused.",
                config::between(1'000, 10'000'000));
}

void describe(config::Section& section, RpcConfig& value) {
  section.field("connections_max", value.connections_max, "Clients that may be connected at once.",
                config::at_least(1));
  section.field("calls_per_connection_max", value.calls_per_connection_max,
                "Calls that one client may have running at once.", config::at_least(1));
  section.field("request_size_max", value.request_size_max,
                "Largest request that a client may send.",
                config::between(config::kibibyte, 64 * config::mebibyte));
}

void describe(config::Section& section, NodeConfig& value) {
  section.field("name", value.name, "What this node is called in logs and metrics.");
  section.field("listen", value.listen, "Where clients call, as address:port; port 0 takes any.");
  section.field("admin", value.admin, "Where the admin pages are; a loopback address.");
  section.field("stop_time_max", value.stop_time_max,
                "How long running calls may take to finish when the node stops.",
                config::at_most(1h));
  section.field("log_level", value.log_level, "The least level that is logged.");
  section.field("stacks", value.stacks, "The stacks that coroutines run on.");
  section.field("rpc", value.rpc, "Limits against clients.");
}

Result<NodeEndpoints> validate(const NodeConfig& config, const config::Origins& origins) {
  Problems problems(origins);
  if (!is_name(config.name)) {
    problems.add("node.name", "a name is 1 to 63 letters, digits, '-', '_' and '.'");
  }
  auto listen = net::parse_endpoint(config.listen);
  if (!listen) problems.add("node.listen", listen.error().message());
  auto admin = net::parse_endpoint(config.admin);
  if (!admin) {
    problems.add("node.admin", admin.error().message());
  } else if (auto allowed = require_loopback(*admin); !allowed) {
    problems.add("node.admin", allowed.error().message());
  }
  if (!problems.text().empty()) return Error(Code::invalid_argument, problems.text());
  return NodeEndpoints{.listen = *std::move(listen), .admin = *std::move(admin)};
}

}  // namespace corolane::framework
