// HTTP/1.1: requests and responses have the same meaning in any chunking, and what one end prints
// the other end reads as it was meant.
//
// Input: a byte that chooses the side (see run()), cuts, a flow of requests or a response.
#include "net/http.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "test/fuzz/scripted_network.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

using net::HttpHeaders;
using net::HttpRequest;
using net::HttpResponse;

// Small, so that inputs of a few hundred bytes reach them.
constexpr net::HttpOptions limits{.header_bytes_max = 512, .body_bytes_max = 1024};
// Of what was read under those limits: some headers are added.
constexpr net::HttpOptions wide_limits{};

struct Served {
  std::vector<HttpRequest> requests;
  std::string answers;
  std::size_t sure_bytes = 0;  // Of the answers, without the last one and what may follow it.
  Result<void> end;
};

Served serve(const Pieces& pieces, const net::HttpHandler& handler,
             const net::HttpOptions& options) {
  Served served;
  ScriptedStream stream(pieces, served.answers);
  served.end = net::serve_http(
      stream,
      [&](const HttpRequest& request) {
        served.requests.push_back(request);
        served.sure_bytes = served.answers.size();
        return handler(request);
      },
      options);
  return served;
}

HttpResponse echo(const HttpRequest& request) {
  return {.body = request.body, .headers = {{"X-Method", request.method}}};
}

// What follows from the rest of a message and is left out or added on the way.
bool is_derived(const std::pair<std::string, std::string>& header) {
  constexpr std::string_view derived[] = {"connection", "content-length", "content-type", "host",
                                          "transfer-encoding"};
  std::string name = header.first;
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return std::ranges::find(derived, name) != std::end(derived);
}

HttpHeaders own_headers(HttpHeaders headers) {
  std::erase_if(headers, is_derived);
  return headers;
}

bool is_same(const HttpRequest& a, const HttpRequest& b) {
  return a.method == b.method && a.target == b.target && a.body == b.body && a.headers == b.headers;
}

// Of what is no HTTP it may differ when that is noticed, and so which refusal answers it: the
// parser looks at an unfinished header only when it comes first.
bool is_same(const Served& a, const Served& b) {
  if (!std::ranges::equal(a.requests, b.requests,
                          [](const auto& x, const auto& y) { return is_same(x, y); })) {
    return false;
  }
  if (a.end.has_value() != b.end.has_value()) return false;
  if (a.end) return a.answers == b.answers;
  return a.answers.substr(0, a.sure_bytes) == b.answers.substr(0, b.sure_bytes);
}

bool is_same(const HttpResponse& a, const HttpResponse& b) {
  return a.status == b.status && a.content_type == b.content_type && a.body == b.body &&
         own_headers(a.headers) == own_headers(b.headers);
}

Result<HttpResponse> fetch(const Pieces& pieces, const HttpRequest& request,
                           const net::HttpOptions& options, std::string* sent = nullptr) {
  std::string written;
  ScriptedNetwork network(pieces, written);
  auto response = net::fetch_http(network, {"server", 80}, request, Deadline::never(), options);
  if (sent != nullptr) *sent = std::move(written);
  return response;
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Our client sends what our server read, and our server reads the same again.
void check_sent_again(const HttpRequest& request) {
  std::string sent;
  static_cast<void>(fetch({}, request, wide_limits, &sent));
  if (sent.empty()) return;  // HTTP cannot carry it, says the client.
  const Served again = serve({bytes_of(sent)}, echo, wide_limits);
  check(again.end.has_value() && again.requests.size() == 1, "what our client sends is a request");
  const HttpRequest& read = again.requests.front();
  check(read.method == request.method && read.target == request.target && read.body == request.body,
        "the same one");
  check(own_headers(read.headers) == own_headers(request.headers), "with the same headers");

  const auto answer = fetch({bytes_of(again.answers)}, request, wide_limits);
  check(answer.has_value(), "our client reads what our server answers");
  check(answer->status == 200 && answer->body == (request.method == "HEAD" ? "" : request.body),
        "as it was meant");
}

void run_server(Bytes flow, std::span<const std::size_t> cuts) {
  const Served whole = serve({flow}, echo, limits);
  check(is_same(serve(cut(flow, cuts), echo, limits), whole), "cuts change nothing");
  check(is_same(serve(cut_at_every_byte(flow), echo, limits), whole), "nor do cuts at every byte");
  for (const HttpRequest& request : whole.requests) {
    check(request.body.size() <= limits.body_bytes_max, "no body is above the limit");
    check_sent_again(request);
  }
}

void run_client(Bytes flow, std::span<const std::size_t> cuts, const HttpRequest& request) {
  const auto whole = fetch({flow}, request, limits);
  const Pieces other_cuts[] = {cut(flow, cuts), cut_at_every_byte(flow)};
  for (const Pieces& pieces : other_cuts) {
    const auto again = fetch(pieces, request, limits);
    check(again.has_value() == whole.has_value(), "cuts change nothing");
    check(!whole || is_same(*again, *whole), "nor what it says");
  }
  if (!whole) return;
  check(whole->body.size() <= limits.body_bytes_max, "no body is above the limit");
  check(request.method != "HEAD" || whole->body.empty(), "no body answers a HEAD");

  std::string sent;
  static_cast<void>(fetch({}, request, wide_limits, &sent));
  const auto handler = [&](const HttpRequest&) { return *whole; };
  const Served served = serve({bytes_of(sent)}, handler, wide_limits);
  const auto again = fetch({bytes_of(served.answers)}, request, wide_limits);
  check(again.has_value(), "our client reads what our server repeats");
  // What has no body has no type of it.
  HttpResponse meant = *whole;
  if (meant.status == 204 || meant.status == 304) meant.content_type.clear();
  check(is_same(*again, meant), "as it was meant");
}

}  // namespace

void run(Input input) {
  const std::uint8_t side = input.take_byte();
  const auto cuts = input.take_cuts();
  switch (side % 3) {
    case 0:
      return run_server(input.rest(), cuts);
    case 1:
      return run_client(input.rest(), cuts, {.method = "GET", .target = "/"});
    default:
      return run_client(input.rest(), cuts, {.method = "HEAD", .target = "/"});
  }
}

}  // namespace corolane::fuzz
