// SPDX-License-Identifier: MIT
#include "net/http/http_lines.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "net/http/detail/http_wire.h"

namespace corolane::net {

class HttpLines::Impl {
 public:
  Impl(std::unique_ptr<Stream> stream, const HttpOptions& options)
      : stream_(std::move(stream)), reader_(*stream_, options), options_(options) {}

  Result<void> begin(std::string_view request, Deadline deadline) {
    auto head =
        detail::exchange(*stream_, request, deadline, [&] { return reader_.read_head(deadline); });
    if (!head) return std::move(head.error());
    head_ = *std::move(head);
    return {};
  }

  const HttpResponse& head() const { return head_; }

  Result<std::string_view> next_line(Deadline deadline) {
    text_.erase(0, std::exchange(line_size_, 0));
    std::size_t end = text_.find('\n');
    while (end == std::string::npos) {
      if (text_.size() > options_.body_bytes_max) return too_long();
      const std::size_t searched = text_.size();
      const auto came = reader_.read_body(text_, deadline);
      if (!came) return came.error();
      if (!*came) return last_line();
      end = text_.find('\n', searched);
    }
    if (end > options_.body_bytes_max) return too_long();
    line_size_ = end + 1;
    std::string_view line(text_.data(), end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

 private:
  static Error too_long() { return Error(Code::resource_exhausted, "a line is too long"); }

  Result<std::string_view> last_line() {
    if (text_.empty()) return Error(Code::out_of_range, "the response has ended");
    line_size_ = text_.size();
    return std::string_view(text_);
  }

  std::unique_ptr<Stream> stream_;
  detail::HttpReader reader_;
  const HttpOptions options_;
  HttpResponse head_;
  std::string text_;           // Received but not returned yet, behind the latest line.
  std::size_t line_size_ = 0;  // The latest line's, with its terminator.
};

Result<HttpLines> HttpLines::open(Network& network, const HostPort& host,
                                  const HttpRequest& request, Deadline deadline,
                                  const HttpOptions& options) {
  const auto text = detail::to_text(request, host, /*keep_alive=*/false);
  if (!text) return text.error();
  auto stream = connect_to(network, host, deadline);
  if (!stream) return stream.error();
  auto impl = std::make_unique<Impl>(*std::move(stream), options);
  if (auto begun = impl->begin(*text, deadline); !begun) {
    return detail::lost(std::move(begun.error()), request, host);
  }
  return HttpLines(std::move(impl));
}

HttpLines::HttpLines(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpLines::HttpLines(HttpLines&& other) noexcept = default;
HttpLines& HttpLines::operator=(HttpLines&& other) noexcept = default;
HttpLines::~HttpLines() = default;

const HttpResponse& HttpLines::head() const { return impl_->head(); }

Result<std::string_view> HttpLines::next_line(Deadline deadline) {
  return impl_->next_line(deadline);
}

}  // namespace corolane::net
