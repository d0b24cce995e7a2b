// SPDX-License-Identifier: MIT
#include "net/http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "coroutine/base/check.h"

namespace corolane::net {
namespace {

// The bits of the largest window, plus the sum that selects the format of gzip.
constexpr int window_bits = 15 + 16;
constexpr std::size_t piece_bytes = 16 * 1024;

Bytef* zlib_bytes(const char* text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text));  // zlib reads it only.
}

uInt clamped(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class Inflation {
 public:
  Inflation() { check(inflateInit2(&stream, window_bits) == Z_OK, "zlib has memory"); }
  ~Inflation() { inflateEnd(&stream); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  z_stream stream{};
};

}  // namespace

Result<void> gunzip(std::string_view zipped, std::size_t bytes_max, std::string& out) {
  Inflation inflation;
  z_stream& stream = inflation.stream;
  stream.next_in = zlib_bytes(zipped.data());
  stream.avail_in = clamped(zipped.size());
  const std::size_t begin = out.size();
  for (int state = Z_OK; state != Z_STREAM_END;) {
    const std::size_t had = out.size();
    // One byte more shows that there is too much.
    const std::size_t room = std::min(piece_bytes, bytes_max + 1 - (had - begin));
    out.resize(had + room);
    stream.next_out = zlib_bytes(out.data() + had);
    stream.avail_out = clamped(room);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (out.size() - begin > bytes_max) {
      return Error(Code::resource_exhausted,
                   "the content of a gzip is longer than " + std::to_string(bytes_max) + " bytes");
    }
    const bool is_cut_off = state == Z_BUF_ERROR || (state == Z_OK && stream.avail_out > 0);
    if (is_cut_off || (state != Z_OK && state != Z_STREAM_END)) {
      return Error(Code::invalid_argument, is_cut_off ? "a gzip is cut off" : "this is no gzip");
    }
  }
  if (stream.avail_in == 0) return {};
  return Error(Code::invalid_argument, "there are bytes behind the end of a gzip");
}

void gzip(std::string_view bytes, std::string& out) {
  z_stream stream{};
  check(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib has memory");
  const std::size_t had = out.size();
  out.resize(had + deflateBound(&stream, bytes.size()));
  stream.next_in = zlib_bytes(bytes.data());
  stream.avail_in = clamped(bytes.size());
  stream.next_out = zlib_bytes(out.data() + had);
  stream.avail_out = clamped(out.size() - had);
  const int state = deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  check(state == Z_STREAM_END, "the whole text fits");
  out.resize(out.size() - stream.avail_out);
}

}  // namespace corolane::net
