// SPDX-License-Identifier: MIT
// Converts what a request or reply carries beside its message, between the wire and the runtime.
//
//   const rpc::ExtensionBytes extension(trace, /*principal=*/nullptr, /*object=*/nullptr);
//   send(header, extension.view(), message);
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/headers.h"
#include "rpc/object_target.h"
#include "rpc/options.h"
#include "rpc/principal.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

class RequestExtension;

// The bytes of a RequestExtension. Small ones, such as a trace alone, cost no allocation.
class ExtensionBytes {
 public:
  static constexpr std::size_t small_bytes = 128;

  // All but the trace may be null.
  ExtensionBytes(const TraceContext& trace, const Principal* principal, const ObjectTarget* object,
                 const Headers* headers = nullptr);
  ExtensionBytes(const ExtensionBytes&) = delete;
  ExtensionBytes& operator=(const ExtensionBytes&) = delete;

  // Empty when there is nothing to say.
  std::string_view view() const { return view_; }

 private:
  std::array<char, small_bytes> small_;
  std::string large_;
  std::string_view view_;
};

// The bytes of a ReplyExtension; empty when there is nothing to say. Both headers may be null.
std::string reply_extension(std::string_view detail, const Headers* headers,
                            const Headers* trailers);
// Reads one: replaces the headers, if there are any in it, and the trailers. Returns the detail.
std::string read_reply_extension(std::string_view bytes, ReplyHeaders* headers);

// Replaces the content of `extension`, and keeps its memory where it can. False for bytes that are
// not an extension: then it has any content.
bool read_extension(std::string_view bytes, RequestExtension& extension);

void read_headers(const RequestExtension& extension, Headers& headers);

// The principal on whose behalf a node calls; anonymous when the extension names none.
Principal principal_of(const RequestExtension& extension);

void set_trace(const TraceContext& trace, RequestExtension& extension);
bool has_trace(const RequestExtension& extension);
// Invalid when the extension names no trace, or only half of one.
TraceContext trace_of(const RequestExtension& extension);

// The object that a request is for, as views into its extension.
class ReceivedTarget {
 public:
  // Ignores epochs, waiting calls and the scope of the request id from a client: only nodes know
  // these.
  ReceivedTarget(const RequestExtension& extension, Door door);
  ReceivedTarget(const ReceivedTarget&) = delete;
  ReceivedTarget& operator=(const ReceivedTarget&) = delete;

  // Null when the request is not for an object.
  const ObjectTarget* get() const { return has_target_ ? &target_ : nullptr; }
  bool has_request_id() const { return static_cast<bool>(target_.request_id); }
  // Sets what the server knows of a client; `scope` outlives this.
  void set_scope(std::string_view scope) { target_.request_id.scope = scope; }

 private:
  bool has_target_;
  std::vector<ObjectCall> chain_;
  ObjectTarget target_;
};

}  // namespace corolane::rpc
