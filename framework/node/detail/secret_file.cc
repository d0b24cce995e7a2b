// SPDX-License-Identifier: MIT
#include "framework/node/detail/secret_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace corolane::framework::detail {
namespace {

// No secret is that long; another kind of file may be.
constexpr std::size_t file_bytes_max = std::size_t{1} << 20;

Error unusable(std::string_view key, const std::string& path, const std::string& reason) {
  return Error(Code::invalid_argument, std::string(key) + ": " + path + " " + reason);
}

}  // namespace

Result<std::string> read_secret(const std::string& path, std::string_view key,
                                std::size_t bytes_min) {
  if (path.empty()) return std::string();
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  const auto unreadable = [&] {
    return unusable(key, path, "cannot be read: " + std::generic_category().message(errno));
  };
  if (!file) return unreadable();
  std::string secret(file_bytes_max + 1, '\0');
  secret.resize(std::fread(secret.data(), 1, secret.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable();
  if (secret.size() > file_bytes_max) return unusable(key, path, "is longer than 1 MiB");
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  if (secret.size() >= bytes_min) return secret;
  return unusable(key, path, "has fewer than " + std::to_string(bytes_min) + " bytes");
}

}  // namespace corolane::framework::detail
