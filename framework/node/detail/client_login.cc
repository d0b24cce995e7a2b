// SPDX-License-Identifier: MIT
#include "framework/node/detail/client_login.h"

#include <chrono>
#include <string>
#include <utility>

#include "framework/node/detail/secret_file.h"

namespace corolane::framework::detail {
namespace {

constexpr std::string_view keys_key = "node.clients.login.jwt_keys_file";

Error unauthenticated(std::string message) {
  return Error(Code::unauthenticated, std::move(message));
}

}  // namespace

Result<void> ClientLogin::open() {
  const bool has_proof = !config_.jwt_keys_file.empty() || config_.certificate;
  if (program_) {
    if (!has_proof) return {};
    return Error(Code::failed_precondition,
                 "node.clients.login: this program decides by itself who a client is; remove "
                 "jwt_keys_file and certificate");
  }
  if (!has_proof && !config_.anonymous) {
    return Error(Code::failed_precondition,
                 "node.clients.login: no client could log in; set jwt_keys_file to the keys that "
                 "sign the tokens of your login service, or certificate: true, or give the node a "
                 "login (Node::set_login), or set anonymous: true to serve clients that prove "
                 "nothing");
  }
  if (config_.jwt_keys_file.empty()) return {};
  auto keys = read_keys();
  if (!keys) return keys.error();
  const auto unix_time = [clock = clock_] {
    return std::chrono::duration_cast<std::chrono::seconds>(clock.now().time_since_epoch());
  };
  verifier_.emplace(*std::move(keys), rpc::JwtRules{.issuer = config_.jwt_issuer,
                                                    .audience = config_.jwt_audience,
                                                    .roles_claim = config_.jwt_roles_claim,
                                                    .unix_time = unix_time});
  return {};
}

Result<rpc::Principal> ClientLogin::principal_of(std::string_view token,
                                                 const rpc::LoginPeer& peer) const {
  auto principal = program_ ? program_(token, peer) : claimed(token, peer);
  if (principal && principal->is_anonymous() && !config_.anonymous) {
    return unauthenticated("this server serves no anonymous clients: log in with a token");
  }
  return principal;
}

// A client with a token is who the token says, whatever its certificate.
Result<rpc::Principal> ClientLogin::claimed(std::string_view token,
                                            const rpc::LoginPeer& peer) const {
  if (!token.empty()) {
    if (verifier_) return verifier_->verify(token);
    return unauthenticated("this server accepts no tokens");
  }
  if (config_.certificate) return rpc::Principal{.id = std::string(peer.identity)};
  return rpc::Principal();
}

Result<void> ClientLogin::prepare_change() {
  next_keys_.reset();
  if (!verifier_) return {};
  auto keys = read_keys();
  if (!keys) return keys.error();
  next_keys_ = *std::move(keys);
  return {};
}

void ClientLogin::change() {
  if (!next_keys_) return;
  verifier_->set_keys(*std::move(next_keys_));
  next_keys_.reset();
}

Result<rpc::JwtKeys> ClientLogin::read_keys() const {
  const std::string& path = config_.jwt_keys_file;
  auto text = read_secret(path, keys_key);
  if (!text) return text.error();
  auto keys = rpc::JwtKeys::parse(*text);
  if (!keys) return std::move(keys.error()).with_context(std::string(keys_key) + ": " + path);
  return keys;
}

}  // namespace corolane::framework::detail
