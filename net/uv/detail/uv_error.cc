// SPDX-License-Identifier: MIT
#include "net/uv/detail/uv_error.h"

#include <uv.h>

#include <array>
#include <string>

namespace corolane::net::detail {
namespace {

Code code_of(int status) {
  switch (status) {
    case UV_EADDRINUSE:
      return Code::already_exists;
    case UV_EACCES:
    case UV_EPERM:
      return Code::permission_denied;
    case UV_EAFNOSUPPORT:
    case UV_EINVAL:
      return Code::invalid_argument;
    case UV_EMFILE:
    case UV_ENFILE:
    case UV_ENOBUFS:
    case UV_ENOMEM:
    case UV_EAI_MEMORY:
      return Code::resource_exhausted;
    case UV_EAI_NODATA:
    case UV_EAI_NONAME:
      return Code::not_found;
    default:
      return Code::unavailable;  // The peer or its route: refused, reset, no port left for it.
  }
}

}  // namespace

Error uv_error(int status, std::string_view action) {
  std::array<char, 128> reason;
  uv_strerror_r(status, reason.data(), reason.size());
  return Error(code_of(status), std::string(action).append(": ").append(reason.data()));
}

}  // namespace corolane::net::detail
