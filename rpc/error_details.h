// SPDX-License-Identifier: MIT
// Errors that carry messages for programs: what exactly is wrong, beside the text for people.
//
//   // A handler:
//   NotYourTurn why;
//   why.set_ply(17);
//   return rpc::with_message(Error(Code::failed_precondition, "it is not your turn"), why);
//
//   // Its caller, by frames or by HTTP:
//   if (const auto why = rpc::message_of<NotYourTurn>(reply.error())) wait_for(why->ply());
//
// The messages are the `details` of a google.rpc.Status and of Connect's errors.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/error.h"

namespace corolane::rpc {

// Adds a message to those that the error has; an Any as it is.
Error with_message(Error error, const google::protobuf::Message& message);

// The messages of an error by the names of their types; none when its detail is something else.
struct ErrorMessage {
  std::string type;  // "chess.NotYourTurn".
  std::string bytes;
};
std::vector<ErrorMessage> messages_of(const Error& error);

// The first message of that type.
template <typename T>
std::optional<T> message_of(const Error& error) {
  for (const ErrorMessage& found : messages_of(error)) {
    T message;
    if (found.type == message.GetTypeName() && message.ParseFromString(found.bytes)) {
      return message;
    }
  }
  return std::nullopt;
}

}  // namespace corolane::rpc
