// SPDX-License-Identifier: MIT
#include "rpc/server/detail/served_method.h"

#include <bit>
#include <string>
#include <utility>

#include "coroutine/base/exception_text.h"
#include "coroutine/task.h"
#include "rpc/detail/filter_chain.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {
namespace {

Error thrown(const ServedMethod& served, const std::string& what) {
  return Error(Code::internal, std::string(served.method->full_name) + " threw an exception" + what)
      .with_maybe_executed();
}

template <typename Run>
Result<void> without_exceptions(const ServedMethod& served, bool& threw, Run run) {
  try {
    return run();
  } catch (...) {
    threw = true;
    return thrown(served, exception_text());
  }
}

// Only the runtime knows whether a handler has begun. A not_executed that the handler passes on
// from a call of its own is about that other handler.
Error of_handler(Error error, bool has_begun) {
  if (!has_begun) return std::move(error).with_not_executed();
  return std::move(error).without_not_executed().with_origin(
      coroutine::is_cancelled() ? Origin::runtime : Origin::handler);
}

// A task keeps 31 bytes of its name: drops the outermost packages rather than the end.
std::string_view task_name_of(std::string_view method) {
  constexpr std::size_t size_max = 31;
  for (std::size_t dot = 0; method.size() > size_max; method.remove_prefix(dot + 1)) {
    dot = method.find('.');
    if (dot == std::string_view::npos) break;
  }
  return method;
}

bool is_for_clients(const Method& method, Server::Audience audience) {
  return audience == Server::Audience::everybody ||
         (audience == Server::Audience::as_marked && method.is_public);
}

// Keeps the reply until the filters have seen it.
class KeptReply final : public Messages {
 public:
  KeptReply(const Method& method, Messages& messages) : method_(method), messages_(messages) {}
  google::protobuf::Message* get() const { return message_.get(); }

 private:
  Result<bool> read(google::protobuf::Message& message) override { return messages_.read(message); }
  Result<void> reply(google::protobuf::Message& message) override {
    message_.reset(method_.new_reply(nullptr));
    method_.take_reply(message, *message_);
    return {};
  }
  Result<void> write(const google::protobuf::Message&) override {
    return Error(Code::internal, "a method with one reply writes no stream");
  }

  const Method& method_;
  Messages& messages_;
  std::unique_ptr<google::protobuf::Message> message_;
};

Result<void> send_kept(const KeptReply& kept, Messages& sink, const Method& method) {
  if (kept.get() != nullptr) return sink.reply(*kept.get());
  return Error(Code::internal, std::string("a filter has ended ") + method.full_name +
                                   " without an error and without calling it");
}

}  // namespace

Result<void> ServedMethods::add(Service& service, Server::Audience audience,
                                const StackSizes& stack_sizes) {
  for (const Method& method : service.methods()) {
    const ServedMethod* const found = find(method.id);
    if (found == nullptr) continue;
    return Error(Code::already_exists, std::string(method.full_name) + " has the same id as " +
                                           found->method->full_name +
                                           ": was the service added twice?");
  }
  for (const Method& method : service.methods()) {
    all_.push_back(std::make_unique<ServedMethod>(
        ServedMethod{.method = &method,
                     .task_name = task_name_of(method.full_name),
                     .service = &service,
                     .is_for_clients = is_for_clients(method, audience),
                     .statistics = {.full_name = method.full_name, .latency_us = {}},
                     .stack_size_bytes = stack_sizes.of(method)}));
  }
  index_all();
  services_.push_back(&service);
  return {};
}

void ServedMethods::index_all() {
  by_id_.assign(std::bit_ceil(2 * all_.size() + 1), nullptr);
  for (const auto& served : all_) {
    std::size_t place = served->method->id & (by_id_.size() - 1);
    while (by_id_[place] != nullptr) place = (place + 1) & (by_id_.size() - 1);
    by_id_[place] = served.get();
  }
}

ServedMethod* ServedMethods::find(std::string_view full_name) const {
  ServedMethod* const found = find(method_id(full_name));
  return found != nullptr && full_name == found->method->full_name ? found : nullptr;
}

Result<void> serve_call(const Around& around, const ServedMethod& served,
                        const google::protobuf::Message& request, Context& context, Messages& sink,
                        bool& threw) {
  bool has_begun = false;  // The handler has begun; a filter may prevent it.
  // Filters see an exception of the handler as an error.
  KeptReply kept(*served.method, sink);
  const bool keeps = around.keeps_replies && served.method->take_reply != nullptr;
  const auto handle = [&] {
    auto outcome = without_exceptions(served, threw, [&] {
      return served.method->invoke(*served.service, request, context,
                                   keeps ? static_cast<Messages&>(kept) : sink);
    });
    if (outcome) context.set_reply(kept.get());
    // A router in front of the handler knows whether the handler has begun, and says so in the
    // error.
    const bool has_only_routed =
        served.method->passes_on && !outcome && outcome.error().not_executed();
    has_begun = has_begun || !has_only_routed;
    return outcome;
  };
  return without_exceptions(served, threw, [&] {
    auto outcome = without_exceptions(
        served, threw, [&] { return with_filters(around.filters, context, handle); });
    if (outcome && keeps) outcome = send_kept(kept, sink, *served.method);
    if (!outcome) outcome = of_handler(std::move(outcome.error()), has_begun);
    for (const Observer& observer : around.observers) {
      if (observer.wants(context, outcome)) [[unlikely]]
        observer.look(context, outcome);
    }
    return outcome;
  });
}

}  // namespace corolane::rpc::detail
