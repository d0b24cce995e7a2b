#include "rpc/detail/connection.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"

namespace corolane::rpc::detail {
namespace {

using namespace std::chrono_literals;

// The bytes of one frame, in a buffer that the thread's next frame reuses.
std::span<std::byte> begin_frame(const FrameHeader& header) {
  thread_local std::vector<std::byte> buffer;
  const std::size_t size = frame_header_size + header.payload_size;
  if (size <= kept_buffer_bytes && buffer.size() > kept_buffer_bytes) {
    std::vector<std::byte>().swap(buffer);
  }
  if (buffer.size() < size) buffer.resize(size);
  encode(header, std::span<std::byte, frame_header_size>(buffer.data(), frame_header_size));
  return std::span(buffer).first(size);
}

std::span<const std::byte> text_frame(FrameHeader header, std::string_view text) {
  header.payload_size = static_cast<std::uint32_t>(text.size());
  const std::span<std::byte> bytes = begin_frame(header);
  std::ranges::copy(net::bytes_of(text), bytes.begin() + frame_header_size);
  return bytes;
}

}  // namespace

Connection::Connection(std::unique_ptr<net::Stream> stream, std::size_t payload_size_max)
    : stream_(std::move(stream)), decoder_(payload_size_max) {}

void Connection::start() {
  send_text({.type = FrameType::hello, .call_id = hello_magic, .method_id = protocol_version}, "");
  stream_->set_read_sink(*this);
}

Result<void> Connection::send(FrameHeader header, const google::protobuf::MessageLite& message,
                              Deadline deadline) {
  const std::size_t size = message.ByteSizeLong();
  // Both sides refuse far less: this keeps the sum within its 32 bits.
  if (size > (std::size_t{1} << 30)) {
    return Error(Code::resource_exhausted,
                 "a message of " + std::to_string(size) + " bytes is above 1 GiB");
  }
  header.payload_size = static_cast<std::uint32_t>(size);
  const std::span<std::byte> bytes = begin_frame(header);
  message.SerializeWithCachedSizesToArray(
      reinterpret_cast<std::uint8_t*>(bytes.data() + frame_header_size));
  return stream_->write_all(bytes, deadline);
}

Result<void> Connection::send_text(FrameHeader header, std::string_view text, Deadline deadline) {
  return stream_->write_all(text_frame(header, text), deadline);
}

void Connection::send_text(FrameHeader header, std::string_view text) {
  const auto written = stream_->try_write(text_frame(header, text));
  if (!written && written.error().code() == Code::resource_exhausted) {
    stream_->close();
    on_end(Error(Code::unavailable, "closed: the peer does not read what it asked for"));
  }
}

void Connection::say_bye(const Error& reason) {
  if (state_ == State::leaving || state_ == State::ended) return;
  state_ = State::leaving;
  on_lost(reason);
  if (state_ == State::ended) return;
  send_text({.type = FrameType::bye, .code = static_cast<std::uint8_t>(reason.code())},
            reason.message());
  if (state_ == State::ended) return;
  stream_->finish_writing();
  coroutine::Scheduler::current().timers().arm(leave_timer_, Deadline::after(1s));
}

void Connection::close() {
  state_ = State::ended;
  leave_timer_.cancel();
  stream_->close();
}

void Connection::on_bytes(std::span<const std::byte> bytes) {
  if (state_ == State::leaving || state_ == State::ended) return;
  decoder_.feed(bytes);
  for (Frame frame;;) {
    const auto more = decoder_.next(frame);
    if (more && !*more) return;
    const Result<void> handled = more ? handle(frame) : more.error();
    if (!handled) {
      broke_protocol_ = true;
      say_bye(handled.error());
    }
    if (state_ == State::leaving || state_ == State::ended) return;
  }
}

void Connection::on_end(const Error& reason) {
  const State before = std::exchange(state_, State::ended);
  if (before == State::ended) return;
  leave_timer_.cancel();
  if (before != State::leaving) on_lost(reason);
  on_closed();
}

Result<void> Connection::handle(const Frame& frame) {
  const FrameHeader& header = frame.header;
  if (header.type == FrameType::bye) {
    stream_->close();
    on_end(Error(code_from_number(header.code), std::string(text_of(frame))));
    return {};
  }
  if (state_ == State::open) return on_frame(frame);
  if (header.type != FrameType::hello || header.call_id != hello_magic) {
    return Error(Code::unauthenticated, "the first frame is no hello of corolane");
  }
  if (header.method_id != protocol_version) {
    return Error(Code::unimplemented, "version " + std::to_string(header.method_id) +
                                          " of the protocol is not spoken here, only " +
                                          std::to_string(protocol_version));
  }
  state_ = State::open;
  on_hello();
  return {};
}

void Connection::LeaveTimer::fire(Timer& timer) {
  Connection& connection = static_cast<LeaveTimer&>(timer).connection;
  connection.stream_->close();
  connection.on_end(Error(Code::unavailable, "closed after bye"));
}

}  // namespace corolane::rpc::detail
