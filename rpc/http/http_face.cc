// SPDX-License-Identifier: MIT
#include "rpc/http/http_face.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/encoding.h"
#include "net/http/percents.h"
#include "rpc/http/detail/connect_error.h"
#include "rpc/http/detail/http_listing.h"
#include "rpc/http/detail/json_text.h"
#include "rpc/http/json.h"
#include "rpc/object_target.h"
#include "rpc/server/detail/memory_budget.h"
#include "rpc/server/detail/request_arena.h"

namespace corolane::rpc {
namespace {

namespace pb = google::protobuf;
using detail::answer_with;

enum class Codec { json, proto };

constexpr std::string_view type_of(Codec codec) {
  return codec == Codec::json ? "application/json" : "application/proto";
}

// The number of calls that a busy server has at a time.
constexpr std::size_t idle_call_count_max = 1024;
// Connect-Timeout-Ms has at most this many digits, which is 115 days.
constexpr std::size_t timeout_digits_max = 10;

// "application/json; charset=utf-8" is application/json.
std::string_view without_parameters(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

std::optional<Codec> codec_of(std::string_view type) {
  if (type == "application/json") return Codec::json;
  if (type == "application/proto") return Codec::proto;
  if (net::is_same_name(without_parameters(type), "application/json")) return Codec::json;
  if (net::is_same_name(without_parameters(type), "application/proto")) return Codec::proto;
  return std::nullopt;
}

bool has_no_side_effects(const Method& method) {
  const std::string_view name = method.full_name;
  const auto slash = name.find('/');
  const auto* const service =
      pb::DescriptorPool::generated_pool()->FindServiceByName(std::string(name.substr(0, slash)));
  const auto* const found =
      service == nullptr ? nullptr : service->FindMethodByName(std::string(name.substr(slash + 1)));
  return found != nullptr &&
         found->options().idempotency_level() == pb::MethodOptions::NO_SIDE_EFFECTS;
}

Result<Deadline> deadline_of(const net::HttpRequest& request, const Method& method, Door door) {
  const std::string_view text = request.header("Connect-Timeout-Ms");
  const Deadline longest = Deadline::after(method.timeout);
  if (text.empty()) return longest;
  std::uint64_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size() ||
      text.size() > timeout_digits_max) {
    return Error(Code::invalid_argument,
                 "Connect-Timeout-Ms is at most 10 digits, not \"" + std::string(text) + "\"");
  }
  const Deadline own = Deadline::after(std::chrono::milliseconds(count));
  return door == Door::nodes ? own : earlier(own, longest);
}

// The id of the called object; empty when there is none.
Result<std::string> object_id_of(const net::HttpRequest& request) {
  const std::string_view text = request.header("Corolane-Object");
  std::string id;
  if (!net::read_percents(text, '+', id)) {
    return Error(
        Code::invalid_argument,
        "Corolane-Object is percent-encoded, with %25 for a %, not \"" + std::string(text) + "\"");
  }
  return id;
}

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  if (!net::is_same_name(authorization.substr(0, scheme.size()), scheme)) return {};
  return authorization.substr(scheme.size());
}

Result<void> check_identity(std::string_view encoding) {
  if (encoding.empty() || encoding == "identity") return {};
  return Error(Code::unimplemented, "the encoding \"" + std::string(encoding) +
                                        "\" of requests is not supported, only identity");
}

// Writes the reply into the body of the response.
class HttpReply final : public ReplySink {
 public:
  HttpReply(JsonWriter& writer, Codec codec, std::size_t bytes_max, std::string& body)
      : writer_(writer), codec_(codec), bytes_max_(bytes_max), body_(body) {}

 private:
  Result<void> reply(pb::Message& message) override {
    if (message.ByteSizeLong() > bytes_max_) {
      return Error(Code::resource_exhausted,
                   "the reply is larger than " + std::to_string(bytes_max_) + " bytes")
          .with_maybe_executed();
    }
    if (codec_ == Codec::json) {
      auto written = writer_.write(message, body_);
      if (written) return written;
      return Error(Code::internal, written.error().message()).with_maybe_executed();
    }
    if (message.AppendToString(&body_)) return {};
    return Error(Code::internal, "the reply cannot be serialised").with_maybe_executed();
  }
  Result<void> write(const pb::Message&) override {
    return Error(Code::unimplemented, "streams are not served by HTTP");
  }

  JsonWriter& writer_;
  const Codec codec_;
  const std::size_t bytes_max_;
  std::string& body_;
};

}  // namespace

class HttpFace::Impl {
 public:
  Impl(Server& server, Options options)
      : server_(server), options_(options), budget_(options.decoded_bytes_max) {}

  void answer(const net::HttpRequest& request, net::HttpResponse& response);

 private:
  // The content of a request besides its method.
  struct Question {
    Codec codec;
    std::string_view message;
  };

  void list(const net::HttpRequest& request, net::HttpResponse& response) const;
  const Method* find(std::string_view path) const;
  std::optional<Question> question_of(const net::HttpRequest& request, const Method& method,
                                      net::HttpResponse& response);
  Result<Question> question_of_get(const net::HttpRequest& request);
  void refuse_type(const net::HttpRequest& request, const Method& method,
                   net::HttpResponse& response) const;
  Result<void> call(const net::HttpRequest& request, const Method& method, const Question& question,
                    net::HttpResponse& response);
  Result<Principal> log_in(const net::HttpRequest& request) const;
  Result<void> read(const Question& question, pb::Message& message);

  std::unique_ptr<detail::RequestArena> take_memory();
  void give_back(std::unique_ptr<detail::RequestArena> memory);

  Server& server_;
  const Options options_;
  JsonReader reader_;
  JsonWriter writer_;
  std::string got_;  // The decoded message of a GET, until it is parsed.
  detail::MemoryBudget budget_;
  std::vector<std::unique_ptr<detail::RequestArena>> idle_;
};

void HttpFace::Impl::answer(const net::HttpRequest& request, net::HttpResponse& response) {
  const std::string_view path = request.path();
  if (path == "/" && options_.lists_services) return list(request, response);
  const Method* const method = find(path);
  if (method == nullptr) {
    const Error error(Code::unimplemented,
                      "no method " + std::string(path) +
                          (options_.lists_services ? "; GET / lists the methods" : ""));
    return answer_with(error, 404, response);
  }
  const auto question = question_of(request, *method, response);
  if (!question) return;
  response.content_type = type_of(question->codec);
  if (auto called = call(request, *method, *question, response); !called) {
    answer_with(called.error(), response);
  }
}

void HttpFace::Impl::list(const net::HttpRequest& request, net::HttpResponse& response) const {
  using detail::ListingFormat;
  if (request.method != "GET" && request.method != "HEAD") {
    response.headers.add("Allow", "GET, HEAD");
    return answer_with(Error(Code::unimplemented, "the list is read with GET or HEAD"), 405,
                       response);
  }
  ListingFormat format = ListingFormat::text;
  if (request.header("Accept").find("text/html") != std::string_view::npos) {
    format = ListingFormat::html;
    response.content_type = "text/html; charset=utf-8";
  }
  if (request.query("format") == "json") {
    format = ListingFormat::json;
    response.content_type = "application/json";
  }
  response.body = detail::list_services(server_, format, options_.door);
}

const Method* HttpFace::Impl::find(std::string_view path) const {
  if (!path.starts_with('/')) return nullptr;
  return server_.find(path.substr(1), options_.door);
}

// Empty when the request could not be read and has been answered with an error.
std::optional<HttpFace::Impl::Question> HttpFace::Impl::question_of(const net::HttpRequest& request,
                                                                    const Method& method,
                                                                    net::HttpResponse& response) {
  if (request.method == "GET" && has_no_side_effects(method)) {
    auto question = question_of_get(request);
    if (question) return *question;
    answer_with(question.error(), response);
    return std::nullopt;
  }
  if (request.method != "POST") {
    response.headers.add("Allow", has_no_side_effects(method) ? "GET, POST" : "POST");
    answer_with(Error(Code::unimplemented, std::string(method.full_name) + " is called with POST"),
                405, response);
    return std::nullopt;
  }
  const auto codec = codec_of(request.header("Content-Type"));
  if (!codec) {
    refuse_type(request, method, response);
    return std::nullopt;
  }
  const std::string_view version = request.header("Connect-Protocol-Version");
  if (!version.empty() && version != "1") {
    answer_with(Error(Code::invalid_argument,
                      "Connect-Protocol-Version is 1, not \"" + std::string(version) + "\""),
                response);
    return std::nullopt;
  }
  if (auto identity = check_identity(request.header("Content-Encoding")); !identity) {
    answer_with(identity.error(), response);
    return std::nullopt;
  }
  return Question{.codec = *codec, .message = request.body};
}

// /package.Service/Method?connect=v1&encoding=json&message=%7B%7D
Result<HttpFace::Impl::Question> HttpFace::Impl::question_of_get(const net::HttpRequest& request) {
  const std::string_view version = request.query("connect");
  if (!version.empty() && version != "v1") {
    return Error(Code::invalid_argument, "connect is v1, not \"" + std::string(version) + "\"");
  }
  if (auto identity = check_identity(request.query("compression")); !identity) {
    return identity.error();
  }
  const std::string_view encoding = request.query("encoding");
  if (encoding != "json" && encoding != "proto") {
    return Error(Code::invalid_argument,
                 "encoding is json or proto, not \"" + std::string(encoding) + "\"");
  }
  got_.clear();
  bool is_read = net::read_percents(request.query("message"), ' ', got_);
  if (is_read && request.query("base64") == "1") {
    std::string bytes;
    is_read = read_any_base64(got_, bytes);
    got_ = std::move(bytes);
  }
  if (!is_read) return Error(Code::invalid_argument, "message is not in its stated encoding");
  return Question{.codec = encoding == "json" ? Codec::json : Codec::proto, .message = got_};
}

void HttpFace::Impl::refuse_type(const net::HttpRequest& request, const Method& method,
                                 net::HttpResponse& response) const {
  const std::string_view type = without_parameters(request.header("Content-Type"));
  const Error error(Code::unimplemented,
                    std::string(method.full_name) + " takes application/json or application/proto" +
                        (method.server_streaming ? "; its stream is not served by HTTP" : "") +
                        ", not \"" + std::string(type) + "\"");
  const bool is_stream = type == "application/connect+json" || type == "application/connect+proto";
  if (is_stream && method.server_streaming) {
    // A stream's client reads an error only in the end of the stream: an envelope with the end
    // flag.
    std::string end = R"({"error":)";
    detail::append_connect_error(
        end, Error(Code::unimplemented,
                   std::string(method.full_name) + " is a stream, which is not served by HTTP"));
    end += '}';
    response.content_type = type;
    response.body.assign(1, '\x02');
    for (int shift = 24; shift >= 0; shift -= 8) {
      response.body += static_cast<char>(end.size() >> shift & 0xff);
    }
    response.body += end;
    return;
  }
  response.headers.add("Accept-Post", "application/json, application/proto");
  answer_with(error, 415, response);
}

Result<void> HttpFace::Impl::call(const net::HttpRequest& request, const Method& method,
                                  const Question& question, net::HttpResponse& response) {
  if (method.server_streaming) {
    return Error(Code::unimplemented,
                 std::string(method.full_name) + " is a stream, which is not served by HTTP");
  }
  const auto deadline = deadline_of(request, method, options_.door);
  if (!deadline) return deadline.error();
  const auto principal = log_in(request);
  if (!principal) return principal.error();
  const auto object_id = object_id_of(request);
  if (!object_id) return object_id.error();
  const ObjectTarget object{.id = *object_id};
  Context::Facts facts{.deadline = *deadline,
                       .door = options_.door,
                       .may_take_last_stacks = request.is_of_newcomer,
                       .peer = request.peer,
                       .peer_identity = request.peer_identity,
                       .principal = &*principal};
  if (const std::string_view parent = request.header("traceparent"); !parent.empty()) {
    facts.trace = parse_traceparent(parent).value_or(TraceContext{});
  }
  if (!object.id.empty()) facts.object = &object;

  auto memory = take_memory();
  pb::Message* const message = method.new_request(&memory->arena());
  Result<void> called = read(question, *message);
  const std::size_t taken = memory->counted_bytes(question.message.size());
  if (called && !budget_.take(taken)) {
    called = Error(Code::resource_exhausted, "the server has no room for requests of this size")
                 .with_retry_after(std::chrono::seconds(1));
  } else if (called) {
    HttpReply reply(writer_, question.codec, options_.reply_bytes_max, response.body);
    called = server_.call(method, *message, facts, reply);
    if (called && method.one_way && question.codec == Codec::json) response.body = "{}";
    budget_.give_back(taken);
  }
  give_back(std::move(memory));
  return called;
}

Result<Principal> HttpFace::Impl::log_in(const net::HttpRequest& request) const {
  if (!options_.login) return Principal();
  const std::string_view token = bearer_token(request.header("Authorization"));
  if (token.size() > token_bytes_max) {
    return Error(Code::unauthenticated,
                 "a token has at most " + std::to_string(token_bytes_max) + " bytes");
  }
  return options_.login(token, {.address = request.peer, .identity = request.peer_identity});
}

Result<void> HttpFace::Impl::read(const Question& question, pb::Message& message) {
  const std::string_view bytes = question.message;
  if (question.codec == Codec::json) return reader_.read(bytes, message);
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return Error(Code::invalid_argument, "not a valid " + message.GetDescriptor()->full_name() +
                                           ": do both sides have the same proto?");
}

std::unique_ptr<detail::RequestArena> HttpFace::Impl::take_memory() {
  if (idle_.empty()) return std::make_unique<detail::RequestArena>();
  auto memory = std::move(idle_.back());
  idle_.pop_back();
  return memory;
}

void HttpFace::Impl::give_back(std::unique_ptr<detail::RequestArena> memory) {
  if (idle_.size() == idle_call_count_max) return;
  memory->reset();
  idle_.push_back(std::move(memory));
}

HttpFace::HttpFace(Server& server, Options options)
    : impl_(std::make_unique<Impl>(server, options)) {}
HttpFace::~HttpFace() = default;

void HttpFace::answer(const net::HttpRequest& request, net::HttpResponse& response) {
  impl_->answer(request, response);
}

}  // namespace corolane::rpc
