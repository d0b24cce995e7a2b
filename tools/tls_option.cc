// SPDX-License-Identifier: MIT
#include "tools/tls_option.h"

#include <string>
#include <string_view>
#include <utility>

namespace corolane::tools {

Result<CallNetwork> CallNetwork::make(net::Network& inner, const Arguments& arguments) {
  CallNetwork made(inner);
  const auto value_of = [&](std::string_view option) {
    const auto found = arguments.options.find(option);
    return found == arguments.options.end() ? std::string() : found->second;
  };
  net::TlsOptions options{.certificate_file = value_of("--certificate"),
                          .key_file = value_of("--key"),
                          .ca_file = value_of("--tls")};
  const bool needs_tls = !options.certificate_file.empty() || !options.key_file.empty();
  if (options.ca_file.empty() && needs_tls) {
    return Error(Code::invalid_argument, "--certificate and --key need --tls FILE");
  }
  if (!options.ca_file.empty()) {
    auto context = net::TlsContext::load(std::move(options));
    if (!context) return context.error();
    made.context_ = *std::move(context);
    made.tls_ = std::make_unique<net::TlsNetwork>(inner, *made.context_);
  }
  if (arguments.options.contains("--websocket")) {
    made.websocket_ = std::make_unique<net::WebSocketNetwork>(made.network());
  }
  return made;
}

}  // namespace corolane::tools
