// Replace it before strangers play.
#include "login.h"

#include <cstddef>
#include <string>

#include "coroutine/base/text.h"

namespace my_game {
namespace {

constexpr std::size_t name_bytes_max = 80;

}  // namespace

corolane::Result<corolane::rpc::Principal> login_by_name(std::string_view token,
                                                         const corolane::rpc::LoginPeer&) {
  if (token.size() > name_bytes_max || !corolane::is_utf8(token)) {
    return corolane::Error(corolane::Code::unauthenticated, "a name has at most 80 bytes");
  }
  return corolane::rpc::Principal{.id = std::string(token)};
}

}  // namespace my_game
