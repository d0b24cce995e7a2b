// SPDX-License-Identifier: MIT
// The far end of calls: a connection of frames, or a request over HTTP. Admission, deadlines and
// statistics are the same for both; each knows its own way back.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/address_shares.h"
#include "rpc/headers.h"
#include "rpc/options.h"
#include "rpc/principal.h"
#include "rpc/server/detail/admission.h"
#include "rpc/server/detail/principal_counts.h"

namespace corolane::rpc {
class Session;
}

namespace corolane::rpc::detail {

class Call;

class Caller {
 public:
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  Door door() const { return door_; }
  // "10.1.0.7:52310".
  std::string_view peer() const { return peer_; }
  // By its certificate; empty without one.
  std::string_view peer_identity() const { return peer_identity_; }
  const Principal& principal() const { return principal_; }
  // Null when its client keeps none.
  const std::shared_ptr<Session>& session() const { return session_; }
  // The RequestId::scope of its requests.
  virtual std::string_view request_scope() = 0;
  // How much of a stream it takes before it grants more; each item counts with its header.
  virtual std::int64_t stream_window_bytes() const = 0;
  // Whether it awaits an answer to one-way calls, and to calls that it has given up.
  virtual bool awaits_every_answer() const = 0;

  // Why it may make no more calls now, if it may not.
  virtual Result<void> check_may_call() const = 0;
  virtual void add(Call& call) = 0;
  virtual void remove(Call& call) = 0;
  // Finds the principal, in the task of the call, where that was not done before. May suspend.
  virtual Result<void> log_in() { return {}; }

  // The parts of an answer beside its message.
  struct Beside {
    const Headers* headers = nullptr;
    const Headers* trailers = nullptr;
  };
  // These send one answer to a call in its task; they suspend while the caller takes nothing.
  //
  // The one reply. Fails, and sends nothing, with resource_exhausted when the caller does not take
  // one that large, with internal when it cannot be put in the caller's format.
  virtual Result<void> send_reply(std::uint64_t call_id, const google::protobuf::Message& message,
                                  Beside beside, Deadline deadline) = 0;
  // The next message of a stream. Fails in the same way.
  virtual Result<void> send_item(std::uint64_t call_id, const google::protobuf::Message& message,
                                 Beside beside, Deadline deadline) = 0;
  // The caller may send so much more of its stream.
  virtual void grant(std::uint64_t call_id, std::uint32_t bytes) = 0;
  // Reads an item of the caller's stream. Fails with invalid_argument.
  virtual Result<void> parse_item(std::span<const std::byte> item,
                                  google::protobuf::Message& message) {
    if (message.ParseFromArray(item.data(), static_cast<int>(item.size()))) return {};
    return Error(Code::invalid_argument, "a message of the stream is not a valid " +
                                             message.GetTypeName() +
                                             ": do both sides have the same proto?");
  }
  // The end of a stream or of a one-way call.
  virtual void send_end(std::uint64_t call_id, Beside beside, Deadline deadline) = 0;
  virtual void send_error(std::uint64_t call_id, const Error& error, Beside beside,
                          Deadline deadline) = 0;

  // Refuses a call whose handler has not begun, and says so to the caller. On the loop's stack:
  // never suspends. Closes a caller that does not read its refusals.
  virtual void refuse(std::uint64_t call_id, const Error& error) = 0;

  // Its calls that wait to begin.
  Admission::Share waiting;
  // Counts its calls with those of its address. Empty at the nodes' door.
  net::AddressShares::Guest shares;
  // Counts its calls with those of its principal.
  PrincipalCounts::Guest of_principal;

 protected:
  Caller() = default;
  ~Caller() = default;

  Door door_ = Door::nodes;
  std::string peer_;
  std::string peer_identity_;
  Principal principal_;
  std::shared_ptr<Session> session_;
};

}  // namespace corolane::rpc::detail
