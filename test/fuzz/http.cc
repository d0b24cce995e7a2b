// SPDX-License-Identifier: MIT
// HTTP/1.1: requests and responses have the same meaning in any chunking, and each end reads the
// other's output as it was meant.
//
// Input: a byte that chooses the side (see run()), cuts, a flow of requests or a response.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/virtual_time.h"
#include "net/http/http_server.h"
#include "net/testing/network.h"
#include "test/fuzz/scripted_network.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

using net::HttpHeaders;
using net::HttpRequest;
using net::HttpResponse;

// Small, so that inputs of a few hundred bytes reach them.
constexpr net::HttpOptions limits{.header_bytes_max = 512, .body_bytes_max = 1024};
// Re-reads messages that passed those limits: some headers are added.
constexpr net::HttpOptions wide_limits{};

struct Served {
  std::vector<HttpRequest> requests;
  std::string answers;
  bool is_refused = false;
};

constexpr std::string_view invitation = "HTTP/1.1 100 Continue\r\n\r\n";

// Reads the server's output until it closes. Suspends.
std::string read_all(net::Stream& stream) {
  std::string all;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto count = stream.read_some(buffer, Deadline::after(std::chrono::hours(1)));
    check(count.has_value(), "a server ends a connection whose peer has finished");
    if (*count == 0) return all;
    all += text_of(std::span(buffer).first(*count));
  }
}

// Suspends.
Served serve(const Pieces& pieces, const net::HttpHandler& handler,
             const net::HttpOptions& options) {
  Served served;
  sim::SimulatedNetwork network;
  net::HttpServer server(
      network,
      [&](const HttpRequest& request) {
        served.requests.push_back(request);
        served.requests.back().peer = {};
        return handler(request);
      },
      {.limits = options, .pipelined_bytes_max = std::size_t{1} << 20, .sends_date = false});
  check(server.listen({"server", 1}).has_value(), "the server listens");
  const auto stream = network.connect({"server", 1}, Deadline::never());
  check(stream.has_value(), "the peer can connect");
  for (const Bytes piece : pieces) check((*stream)->try_write(piece).has_value(), "and speak");
  (*stream)->finish_writing();
  served.answers = read_all(**stream);
  served.is_refused = server.statistics().refused_count > 0;
  return served;
}

HttpResponse echo(const HttpRequest& request) {
  return {.body = request.body, .headers = {{"X-Method", request.method}}};
}

// Headers that are derived from the rest of a message, and are dropped or added on the way.
bool is_derived(std::string_view given) {
  constexpr std::string_view derived[] = {"connection", "content-length", "content-type", "host",
                                          "transfer-encoding"};
  std::string name(given);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return std::ranges::find(derived, name) != std::end(derived);
}

HttpHeaders own_headers(const HttpHeaders& headers) {
  HttpHeaders own;
  for (const auto& [name, value] : headers) {
    if (!is_derived(name)) own.add(name, value);
  }
  return own;
}

bool is_same(const HttpRequest& a, const HttpRequest& b) {
  return a.method == b.method && a.target == b.target && a.body == b.body && a.headers == b.headers;
}

// The answers that do not depend on the chunking. For input that is not HTTP, chunking may decide
// when the server notices, and so which refusal it sends, if any before its peer has finished: the
// parser scans an unfinished header only at its start. "100 Continue" is sent only if the body has
// not come yet.
std::string sure_answers(const Served& served) {
  std::string answers = served.answers;
  for (std::size_t at; (at = answers.find(invitation)) != std::string::npos;) {
    answers.erase(at, invitation.size());
  }
  return served.is_refused ? answers.substr(0, answers.rfind("HTTP/1.1 ")) : answers;
}

bool is_same(const Served& a, const Served& b) {
  return std::ranges::equal(a.requests, b.requests,
                            [](const auto& x, const auto& y) { return is_same(x, y); }) &&
         sure_answers(a) == sure_answers(b);
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
  if (sent.empty()) return;  // The client reports that HTTP cannot carry it.
  const Served again = serve({bytes_of(sent)}, echo, wide_limits);
  check(!again.is_refused && again.requests.size() == 1, "our client's output is a request");
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
    check(!whole || is_same(*again, *whole), "nor the response");
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
  // A response without a body has no content type.
  HttpResponse meant = *whole;
  if (meant.status == 204 || meant.status == 304) meant.content_type.clear();
  check(is_same(*again, meant), "as it was meant");
}

void run_side(std::uint8_t side, Bytes flow, std::span<const std::size_t> cuts) {
  switch (side % 3) {
    case 0:
      return run_server(flow, cuts);
    case 1:
      return run_client(flow, cuts, {.method = "GET", .target = "/"});
    default:
      return run_client(flow, cuts, {.method = "HEAD", .target = "/"});
  }
}

}  // namespace

void run(Input input) {
  // One for all inputs: creating it costs more than most of them.
  static coroutine::VirtualTime time;
  static coroutine::Scheduler scheduler(time);
  const std::uint8_t side = input.take_byte();
  const auto cuts = input.take_cuts();
  const auto ran = scheduler.run("fuzz", [&] { run_side(side, input.rest(), cuts); });
  check(ran.has_value(), "the task runs");
}

}  // namespace corolane::fuzz
