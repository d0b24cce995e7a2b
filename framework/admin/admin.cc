// SPDX-License-Identifier: MIT
#include "framework/admin/admin.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "framework/admin/detail/gate.h"
#include "framework/admin/detail/web_page.h"
#include "framework/telemetry/log.h"

namespace corolane::framework {
namespace {

// Pages build texts of any size, and HTTP has deep frames; there are few of these tasks. An
// operator needs the pages most when the load has taken every stack.
constexpr coroutine::TaskOptions page_task = {.stack_size_bytes = 256 * 1024,
                                              .purpose = coroutine::StackPool::Purpose::control};

// The document has its style and scripts inline, contacts only this server, and is never framed.
constexpr std::string_view content_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self';"
    " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// True for a browser's own navigation, false for the document's requests for JSON.
bool wants_document(const net::HttpRequest& request) {
  return request.header("Accept").contains("text/html") && request.query("format").empty();
}

net::HttpResponse document(const net::HttpRequest& request) {
  const bool is_dashboard = request.path() == "/";
  return {.content_type = "text/html; charset=utf-8",
          .body = std::string(is_dashboard ? detail::web_dashboard : detail::web_page),
          .headers = {{"Content-Security-Policy", content_policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-cache"},
                      {"Vary", "Accept"}}};
}

// A browser names the site of the document that sends a request; a browser on this machine may show
// documents of any site. curl and scripts send no such header.
bool is_from_another_site(const net::HttpRequest& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  std::string_view origin = request.header("Origin");
  if (origin.empty()) return false;
  origin.remove_prefix(std::min(origin.find("//"), origin.size()));
  return origin != "//" + std::string(request.header("Host"));
}

net::HttpResponse only_by(std::string_view methods) {
  return {.status = 405,
          .body = "method not allowed; use " + std::string(methods) + "\n",
          .headers = {{"Allow", methods}}};
}

// Finds the page of exactly that path, or of a matching pattern: "/tasks/{id}" for "/tasks/17".
template <typename Pages>
auto find(const Pages& pages, std::string_view path) -> const typename Pages::mapped_type* {
  if (const auto exact = pages.find(path); exact != pages.end()) return &exact->second;
  const auto matches = [path](std::string_view known) {
    std::string_view rest = path;
    while (!known.empty()) {
      const std::size_t brace = known.find('{');
      if (brace == std::string_view::npos) return known == rest;
      if (rest.substr(0, brace) != known.substr(0, brace)) return false;
      rest.remove_prefix(brace);
      const std::size_t end = std::min(rest.find('/'), rest.size());
      if (end == 0) return false;
      rest.remove_prefix(end);
      known.remove_prefix(known.find('}') + 1);
    }
    return rest.empty();
  };
  const auto pattern = std::ranges::find_if(pages, [&](const auto& entry) {
    const std::string_view known = entry.first;
    return known.contains('{') && matches(known);
  });
  return pattern == pages.end() ? nullptr : &pattern->second;
}

}  // namespace

bool is_local(const net::Endpoint& endpoint) {
  return endpoint.address.starts_with("127.") || endpoint.address == "::1" ||
         net::is_unix(endpoint);
}

AdminServer::AdminServer(net::Network& network) : network_(network) {}

AdminServer::~AdminServer() { stop(); }

void AdminServer::page(std::string path, std::string summary, net::HttpHandler handler) {
  check(path.starts_with('/'), "the path of a page starts with a slash");
  const auto [place, is_new] =
      pages_.emplace(std::move(path), Page{std::move(summary), std::move(handler)});
  check(is_new, "a path has one page");
}

void AdminServer::action(std::string path, std::string summary, net::HttpHandler handler) {
  check(path.starts_with('/'), "the path of an action starts with a slash");
  const auto [place, is_new] =
      actions_.emplace(std::move(path), Page{std::move(summary), std::move(handler)});
  check(is_new, "a path has one action");
}

Result<net::Endpoint> AdminServer::listen(const Door& door) {
  check(server_ == nullptr, "an admin server listens once");
  if (!is_local(door.endpoint) && door.token.empty() && door.look_token.empty()) {
    return Error(
        Code::invalid_argument,
        to_string(door.endpoint) +
            " is no loopback address: other machines could read and change everything; serve "
            "the pages on 127.0.0.1, [::1] or a Unix socket, or set node.admin.token_file");
  }
  log_ = door.log;
  gate_ = std::make_unique<detail::AdminGate>(
      detail::AdminGate::Options{.token = door.token,
                                 .look_token = door.look_token,
                                 .is_on_network = !net::is_unix(door.endpoint),
                                 .log = door.log});
  server_ = std::make_unique<net::HttpServer>(
      door.network != nullptr ? *door.network : network_,
      [this](const net::HttpRequest& request) {
        auto visitor = gate_->admit(request);
        return visitor ? answer(request, *visitor) : std::move(visitor.error());
      },
      net::HttpServer::Options{.limits = {.idle_time_max = idle_time_max},
                               .connection_count_max = connection_count_max,
                               .evicts_idle = true,
                               .task = page_task});
  auto local = server_->listen(door.endpoint);
  if (!local) server_.reset();
  return local;
}

void AdminServer::stop() {
  if (server_ != nullptr) static_cast<void>(server_->stop(Deadline::passed()));
}

std::vector<AdminServer::Listed> AdminServer::pages() const {
  std::vector<Listed> all;
  for (const auto& [path, page] : pages_) all.push_back({path, page.summary, false});
  for (const auto& [path, page] : actions_) all.push_back({path, page.summary, true});
  std::ranges::stable_sort(all, {}, &Listed::path);
  return all;
}

net::HttpResponse AdminServer::answer(const net::HttpRequest& request,
                                      const detail::AdminVisitor& visitor) const {
  if (request.method == "POST") return answer_post(request, visitor);
  if (request.method != "GET" && request.method != "HEAD") return only_by("GET, HEAD, POST");
  const Page* const found = find(pages_, request.path());
  if (found == nullptr) {
    return find(actions_, request.path()) != nullptr ? only_by("POST") : no_page(request);
  }
  return wants_document(request) ? document(request) : found->handler(request);
}

net::HttpResponse AdminServer::get(const std::string& target) const {
  net::HttpResponse response;
  const net::HttpRequest request{.method = "GET", .target = target, .body = {}, .headers = {}};
  auto task = coroutine::spawn("own page", [&] { response = answer(request, {}); }, page_task);
  if (auto ended = task.join(Deadline::never()); !ended)
    return {.status = 503, .body = ended.error().message()};
  return response;
}

net::HttpResponse AdminServer::answer_post(const net::HttpRequest& request,
                                           const detail::AdminVisitor& visitor) const {
  const Page* const found = find(actions_, request.path());
  if (found == nullptr) {
    return find(pages_, request.path()) != nullptr ? only_by("GET, HEAD") : no_page(request);
  }
  if (is_from_another_site(request)) {
    return {.status = 403, .body = "requests from another site are refused\n"};
  }
  if (!visitor.may_act) {
    return {.status = 403,
            .body =
                "this token may look at pages; an action needs the token of "
                "node.admin.token_file\n"};
  }
  if (log_ != nullptr) {
    // At any level, and before the action, which may end the process.
    log_->always("admin action", {{"action", request.target},
                                  {"by", visitor.name.empty() ? "no name" : visitor.name},
                                  {"peer", request.peer}});
  }
  return found->handler(request);
}

net::HttpResponse AdminServer::no_page(const net::HttpRequest& request) const {
  return {
      .status = 404,
      .body = "no page " + std::string(request.path()) + "; the pages are:\n" + list_of_pages()};
}

std::string AdminServer::list_of_pages() const {
  const auto all = pages();
  std::size_t width = 0;
  for (const Listed& page : all) width = std::max(width, page.path.size());
  std::string text;
  for (const Listed& page : all) {
    text.append(page.path).append(width - page.path.size() + 2, ' ');
    text.append(page.is_action ? "POST: " : "").append(page.summary).append("\n");
  }
  return text;
}

}  // namespace corolane::framework
