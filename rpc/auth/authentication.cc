// SPDX-License-Identifier: MIT
#include "rpc/auth/authentication.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "rpc/service.h"

namespace corolane::rpc {
namespace {

class Authentication {
 public:
  explicit Authentication(AuthenticationOptions options) : options_(std::move(options)) {}

  Result<void> serve(Context& call, const Next& next) {
    if (is_exempt(call.descriptor())) return next();
    const std::string_view token = call.authorization();
    if (token.empty()) {
      return Error(Code::unauthenticated,
                   std::string(call.method()) + " needs a token: CallOptions::authorization");
    }
    if (token.size() > options_.token_bytes_max) {
      return Error(Code::unauthenticated, "the token has " + std::to_string(token.size()) +
                                              " bytes, the maximum is " +
                                              std::to_string(options_.token_bytes_max));
    }
    const auto principal = options_.verify(token, call);
    if (!principal) return principal.error();
    if (options_.authorize) {
      if (auto allowed = options_.authorize(*principal, call); !allowed) return allowed;
    }
    call.set_principal(&*principal);
    auto result = next();
    call.set_principal(nullptr);
    return result;
  }

 private:
  // Looks each method up once: a server has few, and they live for the whole program.
  bool is_exempt(const Method& method) {
    if (options_.exempt.empty()) return false;
    const auto [known, is_new] = exempt_.emplace(&method, false);
    if (is_new) {
      const std::string_view name = method.full_name;
      const std::string all_of_service = std::string(name.substr(0, name.rfind('/'))) + "/*";
      known->second = std::ranges::any_of(options_.exempt, [&](const std::string& pattern) {
        return pattern == name || pattern == all_of_service;
      });
    }
    return known->second;
  }

  const AuthenticationOptions options_;
  std::unordered_map<const Method*, bool> exempt_;
};

}  // namespace

ServerFilter authenticate(AuthenticationOptions options) {
  return [authentication = std::make_shared<Authentication>(std::move(options))](
             Context& call, const Next& next) { return authentication->serve(call, next); };
}

std::function<Result<void>(const Principal&, Context&)> needs_role(std::vector<std::string> roles) {
  return [roles = std::move(roles)](const Principal& principal, Context& call) -> Result<void> {
    const auto has = [&](const std::string& role) { return principal.has_role(role); };
    if (std::ranges::any_of(roles, has)) return {};
    return Error(Code::permission_denied,
                 principal.id + " has no role that may call " + std::string(call.method()));
  };
}

}  // namespace corolane::rpc
