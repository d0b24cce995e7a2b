// SPDX-License-Identifier: MIT
#include "framework/node/detail/door_network.h"

#include <utility>

namespace corolane::framework::detail {

Result<void> DoorNetwork::open(const net::TlsOptions& files,
                               const net::TlsNetwork::Options& options) {
  if (is_tls() || (files.certificate_file.empty() && files.ca_file.empty())) return {};
  auto context = net::TlsContext::load(files);
  if (!context) return std::move(context.error()).with_context(key_);
  context_ = *std::move(context);
  tls_ = std::make_unique<net::TlsNetwork>(inner_, *context_, options);
  return {};
}

Result<void> DoorNetwork::prepare_change() {
  prepared_ = nullptr;
  if (!is_tls()) return {};
  auto prepared = context_->prepare_reload();
  if (!prepared) return std::move(prepared.error()).with_context(key_);
  prepared_ = *std::move(prepared);
  return {};
}

void DoorNetwork::change() {
  if (prepared_) std::exchange(prepared_, nullptr)();
}

}  // namespace corolane::framework::detail
