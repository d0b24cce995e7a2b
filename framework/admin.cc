#include "framework/admin.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework {
namespace {

// Pages build texts of any size, and HTTP has deep frames; there are few of these tasks. An
// operator has to see the pages above all when the load has taken every stack.
constexpr coroutine::TaskOptions page_task = {.stack_size_bytes = 256 * 1024,
                                              .purpose = coroutine::StackPool::Purpose::control};

}  // namespace

Result<void> require_loopback(const net::Endpoint& endpoint) {
  if (endpoint.address.starts_with("127.") || endpoint.address == "::1") return {};
  return Error(Code::invalid_argument,
               to_string(endpoint) +
                   " is no loopback address; the admin pages ask nobody for a password, so serve "
                   "them on 127.0.0.1 or [::1] and come from elsewhere through a tunnel");
}

AdminServer::AdminServer(net::Network& network)
    : server_(network, [this](const net::HttpRequest& request) { return answer(request); },
              {.connection_count_max = connection_count_max, .task = page_task}) {
  page("/", "this list",
       [this](const net::HttpRequest&) { return net::HttpResponse{.body = list_of_pages()}; });
}

void AdminServer::page(std::string path, std::string summary, net::HttpHandler handler) {
  check(path.starts_with('/'), "the path of a page starts with a slash");
  const auto [place, is_new] =
      pages_.emplace(std::move(path), Page{std::move(summary), std::move(handler)});
  check(is_new, "a path has one page");
}

Result<net::Endpoint> AdminServer::listen(const net::Endpoint& endpoint) {
  check(!listens_, "an admin server listens once");
  if (auto allowed = require_loopback(endpoint); !allowed) return allowed.error();
  auto local = server_.listen(endpoint);
  listens_ = local.has_value();
  return local;
}

void AdminServer::stop() { static_cast<void>(server_.stop(Deadline::passed())); }

net::HttpResponse AdminServer::answer(const net::HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    return {.status = 405,
            .body = "pages are read with GET or HEAD\n",
            .headers = {{"Allow", "GET, HEAD"}}};
  }
  const Page* const found = find(request.path());
  if (found == nullptr) {
    return {.status = 404,
            .body = "no page " + std::string(request.path()) + "; there are:\n" + list_of_pages()};
  }
  return found->handler(request);
}

const AdminServer::Page* AdminServer::find(std::string_view path) const {
  if (const auto exact = pages_.find(path); exact != pages_.end()) return &exact->second;
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  if (folder.size() == path.size()) return nullptr;
  const auto pattern = std::ranges::find_if(pages_, [&](const auto& entry) {
    const std::string_view known = entry.first;
    return known.ends_with('}') && known.substr(0, known.find('{')) == folder;
  });
  return pattern == pages_.end() ? nullptr : &pattern->second;
}

std::string AdminServer::list_of_pages() const {
  std::size_t width = 0;
  for (const auto& [path, page] : pages_) width = std::max(width, path.size());
  std::string text;
  for (const auto& [path, page] : pages_) {
    text.append(path).append(width - path.size() + 2, ' ').append(page.summary).append("\n");
  }
  return text;
}

}  // namespace corolane::framework
