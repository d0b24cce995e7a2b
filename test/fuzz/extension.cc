// SPDX-License-Identifier: MIT
// The extension of a request, the object that it names, and the trace context in it and in a
// traceparent header: any part of the bytes that is understood is printed and read back the same,
// and a frame carries the bytes unchanged, in any chunking.
//
// Input: cuts, and the bytes, which are read both as an extension and as a header.
#include <algorithm>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "rpc/trace_context.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

constexpr std::size_t payload_size_max = std::size_t{1} << 20;

void check_header(std::string_view text) {
  const auto trace = rpc::parse_traceparent(text);
  if (!trace) return;
  check(trace->is_valid(), "a trace that was read is valid");
  const std::string printed = rpc::format_traceparent(*trace);
  check(rpc::parse_traceparent(printed) == trace, "a printed trace is read back");
  // Everything except the version, flags without a meaning, and additions of later versions.
  constexpr std::size_t ids_begin = 2;
  constexpr std::size_t ids_end = 53;
  check(text.substr(ids_begin, ids_end - ids_begin) ==
            std::string_view(printed).substr(ids_begin, ids_end - ids_begin),
        "and has the same meaning");
}

void check_same(const rpc::ObjectTarget* one, const rpc::ObjectTarget* other) {
  check((one == nullptr) == (other == nullptr), "both have an object or neither has");
  if (one == nullptr) return;
  check(one->id == other->id && one->node_epoch == other->node_epoch &&
            one->partition_epoch == other->partition_epoch,
        "the object is the same");
  // Without a caller the sequence number has no meaning.
  check(one->request_id.caller == other->request_id.caller &&
            (!one->request_id || one->request_id == other->request_id),
        "and so is the id of the request");
  check(std::ranges::equal(one->chain, other->chain,
                           [](const rpc::ObjectCall& left, const rpc::ObjectCall& right) {
                             return left.method == right.method && left.id == right.id;
                           }),
        "and so are the calls that wait for it");
}

// It is read into one that holds another call, as a connection does.
void check_reader(Bytes bytes, const rpc::RequestExtension& expected, bool is_valid) {
  const rpc::ObjectCall caller = {.method = "a.B/C", .id = "d"};
  const rpc::ObjectTarget object = {.id = "before",
                                    .node_epoch = 1,
                                    .partition_epoch = 2,
                                    .request_id = {.caller = "ada", .sequence = 3, .scope = "s"},
                                    .chain = {&caller, 1}};
  const rpc::Principal player = {.id = "player-17", .roles = {"player"}};
  rpc::RequestExtension extension;
  check(rpc::read_extension(rpc::ExtensionBytes({}, &player, &object).view(), extension),
        "a printed extension is read");
  check(rpc::read_extension(text_of(bytes), extension) == is_valid,
        "bytes are valid when protobuf reads them");
  check(!is_valid || extension.SerializeAsString() == expected.SerializeAsString(),
        "and mean the same");
}

void check_extension(Bytes bytes) {
  rpc::RequestExtension extension;
  const bool is_valid = extension.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  check_reader(bytes, extension, is_valid);
  if (!is_valid) return;
  const rpc::TraceContext trace = rpc::trace_of(extension);
  if (trace.is_valid()) check_header(rpc::format_traceparent(trace));

  const rpc::ReceivedTarget target(extension, rpc::Door::nodes);
  const rpc::Principal principal = rpc::principal_of(extension);
  const rpc::ExtensionBytes printed(trace, &principal, target.get());
  const bool says_something =
      trace.is_valid() || !principal.is_anonymous() || target.get() != nullptr;
  check(says_something != printed.view().empty(), "an empty context takes no bytes");
  rpc::RequestExtension again;
  check(again.ParseFromArray(printed.view().data(), static_cast<int>(printed.view().size())),
        "a printed extension can be read");
  check(rpc::trace_of(again) == trace || !trace.is_valid(), "the trace is the same");
  check(principal.is_anonymous() || rpc::principal_of(again) == principal, "and so is the caller");
  check_same(target.get(), rpc::ReceivedTarget(again, rpc::Door::nodes).get());
}

std::vector<std::byte> frame_with(Bytes extension) {
  const auto size = static_cast<std::uint32_t>(extension.size());
  std::vector<std::byte> frame(rpc::frame_header_size);
  rpc::encode(
      {.payload_size = size, .type = rpc::FrameType::request, .call_id = 7, .extension_size = size},
      std::span<std::byte, rpc::frame_header_size>(frame.data(), rpc::frame_header_size));
  frame.insert(frame.end(), extension.begin(), extension.end());
  return frame;
}

void check_frame(Bytes extension, const std::vector<std::size_t>& cuts) {
  const std::vector<std::byte> flow = frame_with(extension);
  rpc::FrameDecoder decoder(payload_size_max);
  int frame_count = 0;
  for (const Bytes piece : cut(flow, cuts)) {
    decoder.feed(piece);
    rpc::Frame frame;
    for (;;) {
      const auto more = decoder.next(frame);
      check(more.has_value(), "an encoded frame is valid");
      if (!*more) break;
      ++frame_count;
      check(std::ranges::equal(frame.extension, extension), "the extension is unchanged");
      check(frame.message.empty(), "and nothing of it is the message");
    }
  }
  check(frame_count == 1, "a frame is one frame");
}

}  // namespace

void run(Input input) {
  const auto cuts = input.take_cuts();
  const Bytes bytes = input.rest();
  check_header(text_of(bytes));
  check_extension(bytes);
  if (bytes.size() < payload_size_max) check_frame(bytes, cuts);
}

}  // namespace corolane::fuzz
