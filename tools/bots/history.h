// SPDX-License-Identifier: MIT
// The history of the bots: each call with its request, its reply and its times. tools/chaos checks
// it for consistency.
//
// A line of JSON for each call:
//   {"method":"package.Game/Move","object":"ID","caller":"NAME","sequence":3,
//    "begin":NS,"end":NS,"errors":["unavailable"],"code":"ok","request":{..},"reply":{..}}
// Times are from CLOCK_BOOTTIME, which all processes of a machine share. `errors` lists the errors
// after which the call was retried; `code` is the final one, or ok.
#pragma once

#include <google/protobuf/message.h>

#include <cstdio>
#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "framework/client/call_observer.h"
#include "rpc/http/json.h"

namespace corolane::tools::bots {

// Belongs to one thread.
class History final : public framework::CallObserver {
 public:
  static Result<History> create(const std::string& path);

  void on_call(const framework::CallRecord& record, const google::protobuf::Message& request,
               const google::protobuf::Message& reply) override;
  // Writes buffered lines to the file. Fails when the file is incomplete.
  Result<void> flush();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };

  explicit History(std::FILE* file) : file_(file) {}

  std::unique_ptr<std::FILE, Closer> file_;
  rpc::JsonWriter writer_;
  std::string line_;
  bool is_whole_ = true;
};

}  // namespace corolane::tools::bots
