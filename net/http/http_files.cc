// SPDX-License-Identifier: MIT
#include "net/http/http_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "coroutine/base/encoding.h"
#include "net/crypto.h"
#include "net/http/gzip.h"
#include "net/http/percents.h"

namespace corolane::net {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view index_name = "/index.html";

struct Type {
  std::string_view extension;
  std::string_view name;
  bool is_text;
};

constexpr auto types = std::to_array<Type>({
    {".html", "text/html; charset=utf-8", true},
    {".css", "text/css; charset=utf-8", true},
    {".js", "text/javascript; charset=utf-8", true},
    {".mjs", "text/javascript; charset=utf-8", true},
    {".json", "application/json", true},
    {".map", "application/json", true},
    {".webmanifest", "application/manifest+json", true},
    {".svg", "image/svg+xml", true},
    {".txt", "text/plain; charset=utf-8", true},
    {".md", "text/markdown; charset=utf-8", true},
    {".wasm", "application/wasm", true},
    {".png", "image/png", false},
    {".jpg", "image/jpeg", false},
    {".jpeg", "image/jpeg", false},
    {".webp", "image/webp", false},
    {".avif", "image/avif", false},
    {".gif", "image/gif", false},
    {".ico", "image/x-icon", false},
    {".woff2", "font/woff2", false},
    {".mp3", "audio/mpeg", false},
    {".ogg", "audio/ogg", false},
});

const Type& type_of(const fs::path& path) {
  static constexpr Type unknown{"", "application/octet-stream", false};
  const std::string extension = path.extension().string();
  const auto* const found = std::ranges::find_if(
      types, [&](const Type& type) { return is_same_name(type.extension, extension); });
  return found == types.end() ? unknown : *found;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

Error cannot_read(const fs::path& path, const std::error_code& problem) {
  const Code code =
      problem == std::errc::no_such_file_or_directory ? Code::not_found : Code::permission_denied;
  return Error(code, path.string() + " cannot be read: " + problem.message());
}

// Quoted, as in the header.
std::string tag_of(std::string_view content) {
  const Digest digest = hmac_sha256("ETag", {content});
  return '"' + to_base64(digest) + '"';
}

// Whether If-None-Match has the tag (RFC 9110, 13.1.2).
bool has_tag(std::string_view list, std::string_view tag) {
  return list == "*" || list.find(tag) != std::string_view::npos;
}

}  // namespace

Result<HttpFiles> HttpFiles::read(const std::string& folder, const Limits& limits) {
  std::error_code problem;
  const fs::path root = fs::canonical(folder, problem);
  if (problem) return cannot_read(folder, problem);
  HttpFiles files;
  std::size_t bytes = 0;
  auto at = fs::recursive_directory_iterator(root, fs::directory_options::none, problem);
  if (problem) return cannot_read(folder, problem);
  for (; at != fs::recursive_directory_iterator(); at.increment(problem)) {
    const fs::path& path = at->path();
    if (path.filename().string().starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file(problem)) {
      if (problem) return cannot_read(path, problem);
      continue;
    }
    const fs::path real = fs::canonical(path, problem);
    if (problem) return cannot_read(path, problem);
    if (!is_inside(real, root)) {
      return Error(Code::permission_denied,
                   path.string() + " is a link that leaves the folder, to " + real.string());
    }
    std::ifstream stream(real, std::ios::binary);
    File file;
    file.content.assign(std::istreambuf_iterator<char>(stream), {});
    if (!stream.is_open() || stream.bad()) {
      return Error(Code::permission_denied, path.string() + " cannot be read");
    }
    bytes += file.content.size();
    if (files.files_.size() == limits.count_max || bytes > limits.bytes_max) {
      return Error(Code::resource_exhausted, "the files of " + root.string() +
                                                 " are above the limit of " +
                                                 std::to_string(limits.count_max) + " files and " +
                                                 std::to_string(limits.bytes_max) + " bytes");
    }
    const Type& type = type_of(path);
    file.type = type.name;
    file.tag = tag_of(file.content);
    if (type.is_text) gzip(file.content, file.zipped);
    if (file.zipped.size() >= file.content.size()) file.zipped.clear();
    files.files_.emplace("/" + path.lexically_relative(root).generic_string(), std::move(file));
  }
  if (problem) return cannot_read(folder, problem);
  return files;
}

bool HttpFiles::answer(const HttpRequest& request, HttpResponse& response) const {
  std::string path;
  if (!read_percents(request.path(), '+', path)) return false;
  auto found = files_.find(path);
  if (found == files_.end() && path.ends_with('/')) {
    path.pop_back();
    found = files_.find(path.append(index_name));
  }
  if (found == files_.end()) return false;
  const File& file = found->second;
  if (request.method != "GET" && request.method != "HEAD") {
    response.status = 405;
    response.headers.add("Allow", "GET, HEAD");
    response.body = "files are read with GET or HEAD\n";
    return true;
  }
  response.headers.add("ETag", file.tag);
  response.headers.add("Cache-Control", "no-cache");
  response.headers.add("Vary", "Accept-Encoding");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("X-Frame-Options", "SAMEORIGIN");
  response.content_type = file.type;
  if (has_tag(request.header("If-None-Match"), file.tag)) {
    response.status = 304;
  } else if (!file.zipped.empty() && is_listed(request.header("Accept-Encoding"), "gzip")) {
    response.headers.add("Content-Encoding", "gzip");
    response.body = file.zipped;
  } else {
    response.body = file.content;
  }
  return true;
}

}  // namespace corolane::net
