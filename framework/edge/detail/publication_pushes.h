// SPDX-License-Identifier: MIT
// The publications of an object as a source of pushes: skips what its client has, and tells a gap
// where some may be missing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"
#include "rpc/push_source.h"

namespace corolane::framework::detail {

class ObjectRouter;

class PublicationPushes final : public rpc::PushSource {
 public:
  // The client has the publications up to `seen`. `prototype` is never destroyed.
  PublicationPushes(Broadcast::Reader reader, const google::protobuf::Message& prototype,
                    Position seen);

  // From its record. Fails with unimplemented when this program does not know what the objects of
  // that type publish, and with invalid_argument when it is no record.
  static Result<std::unique_ptr<rpc::PushSource>> make(ObjectRouter& router,
                                                       const std::string& record);

  Result<std::optional<rpc::News>> poll() override;
  void when_readable(std::function<void()> note) override;
  std::string record() const override;

 private:
  Broadcast::Reader reader_;
  const std::uint64_t type_;
  Position seen_;
  bool has_stopped_ = false;  // The node stops; the session may follow again on another.
};

}  // namespace corolane::framework::detail
