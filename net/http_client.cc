// fetch_http(): one request on a connection of its own.
#include <utility>

#include "net/detail/http_wire.h"
#include "net/http.h"

namespace corolane::net {
namespace {

Result<HttpResponse> exchange(Stream& stream, const std::string& text, bool to_head,
                              Deadline deadline, const HttpOptions& options) {
  const auto written = stream.write_all(bytes_of(text), deadline);
  // A server may refuse a body before it has read all of it: its answer counts for more than the
  // write that failed.
  if (!written && written.error().code() != Code::unavailable) return written.error();
  auto response = detail::HttpReader(stream, options).read_response(to_head, deadline);
  if (!response && !written) return written.error();
  return response;
}

}  // namespace

Result<HttpResponse> fetch_http(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options) {
  const auto text = detail::to_text(request, host);
  if (!text) return text.error();
  auto stream = connect_to(network, host, deadline);
  if (!stream) return stream.error();
  auto response = exchange(**stream, *text, request.method == "HEAD", deadline, options);
  if (response) return response;
  return std::move(response.error())
      .with_context(request.method + " " + request.target + " at " + host.host)
      .with_maybe_executed();
}

}  // namespace corolane::net
