// SPDX-License-Identifier: MIT
// HTTP/1.1 with keep-alive. Only the status and the length of a reply are checked.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "net/stream.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/network/rpc_requests.h"

namespace corolane::bench {
namespace {

class HttpProtocol final : public Protocol {
 public:
  explicit HttpProtocol(std::string request) : request_(std::move(request)) {}

  void append_requests(std::span<const Slot> slots, Bytes& out) override {
    under_way_.push(slots);
    const auto bytes = net::bytes_of(request_);
    for (std::size_t count = slots.size(); count > 0; --count) {
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
  }

  Result<std::size_t> take_replies(std::span<const std::byte> input, Replies& replies) override {
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    std::size_t taken_count = 0;
    for (;;) {
      const std::string_view rest = text.substr(taken_count);
      const std::size_t size = http_message_size(rest);
      if (size == 0) return taken_count;
      const bool is_refused = rest.starts_with("HTTP/1.1 429 ");
      if (!is_refused && !rest.starts_with("HTTP/1.1 200 ")) {
        return Error(Code::internal, "the server answered " + std::string(rest.substr(0, size)));
      }
      taken_count += size;
      if (auto popped = under_way_.pop_to(is_refused ? replies.refused : replies.answered); !popped)
        return popped.error();
    }
  }

 private:
  std::string request_;
  SlotQueue under_way_;
};

// The base64 of `count` bytes of zeros, `count` being one more than a multiple of three.
std::string base64_of_zeros(std::size_t count) {
  return std::string(count / 3 * 4 + 2, 'A') + "==";
}

}  // namespace

std::size_t http_message_size(std::string_view text) {
  const std::size_t head_size = text.find("\r\n\r\n");
  if (head_size == std::string_view::npos) return 0;
  std::size_t body_size = 0;
  const std::string_view head = text.substr(0, head_size);
  constexpr std::string_view length_name = "\r\ncontent-length: ";
  const auto found = std::ranges::search(head, length_name, [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a + ('a' - 'A') == b);
  });
  if (!found.empty()) {
    std::from_chars(found.end(), head.data() + head.size(), body_size);
  }
  const std::size_t size = head_size + 4 + body_size;
  return size <= text.size() ? size : 0;
}

std::string http_json_body() {
  static_assert(rpc_payload_bytes % 3 == 1);
  return R"({"payload":")" + base64_of_zeros(rpc_payload_bytes) + R"("})";
}

std::unique_ptr<Protocol> http_plain_protocol() {
  return std::make_unique<HttpProtocol>("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
}

std::string http_json_request(std::string_view method, std::chrono::milliseconds deadline) {
  const std::string body = http_json_body();
  return "POST /corolane.bench.Echo/" + std::string(method) +
         " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + std::string(client_token) +
         "\r\nContent-Type: application/json\r\nConnect-Protocol-Version: 1\r\n"
         "Connect-Timeout-Ms: " +
         std::to_string(deadline.count()) + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::unique_ptr<Protocol> http_json_protocol() {
  return std::make_unique<HttpProtocol>(http_json_request("Echo", std::chrono::seconds(1)));
}

std::unique_ptr<Protocol> http_burn_protocol() {
  return std::make_unique<HttpProtocol>(http_json_request("Burn", std::chrono::seconds(1)));
}

}  // namespace corolane::bench
