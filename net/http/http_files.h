// SPDX-License-Identifier: MIT
// The files of a folder, read once, for browsers: pages, scripts, pictures.
//
//   auto files = net::HttpFiles::read("web");
//   if (!files) return files.error();
//   if (files->answer(request, response)) exchange.answer_at_once();
//
// A path names a file, or a folder with an index.html. A browser keeps what it has, and asks each
// time whether that is still the latest (ETag). Text is compressed once, when it is read. The
// answers allow no other site to frame a page, and let browsers guess no types.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "coroutine/base/result.h"
#include "net/http/http.h"

namespace corolane::net {

class HttpFiles {
 public:
  struct Limits {
    std::size_t count_max = 10'000;
    std::size_t bytes_max = std::size_t{64} << 20;
  };

  // Reads all files below the folder; those whose name begins with a dot are left out. A link is
  // followed to a file of the folder. Blocks. Fails with not_found when there is no such folder,
  // with permission_denied when a link leaves it or a file cannot be read, and with
  // resource_exhausted above the limits. The texts name the file.
  static Result<HttpFiles> read(const std::string& folder, const Limits& limits);
  static Result<HttpFiles> read(const std::string& folder) { return read(folder, Limits()); }

  // True when the request is for one of the files: then the response is made, with 304 when the
  // browser has it, and with 405 when it neither gets nor heads. Never suspends, and may be called
  // by several threads at once.
  bool answer(const HttpRequest& request, HttpResponse& response) const;
  std::size_t count() const { return files_.size(); }

 private:
  struct File {
    std::string content;
    std::string zipped;  // Empty when that is no shorter.
    std::string tag;
    std::string_view type;
  };

  std::unordered_map<std::string, File> files_;  // By path: "/index.html".
};

}  // namespace corolane::net
