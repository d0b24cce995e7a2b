// What bots have asked and been told, and when: for whoever checks afterwards that all of it makes
// sense together (tools/chaos).
//
// A line of JSON for each call:
//   {"method":"package.Game/Move","object":"ID","caller":"WHO","sequence":3,
//    "begin":NS,"end":NS,"errors":["unavailable"],"code":"ok","request":{..},"reply":{..}}
// Times are of CLOCK_BOOTTIME, which all processes of a machine share. `errors` are those after
// which the call was tried again, `code` is the last one, or ok.
#pragma once

#include <google/protobuf/message.h>

#include <cstdio>
#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "framework/routing/remote_router.h"
#include "rpc/http/json.h"

namespace corolane::tools::bots {

// Belongs to one thread.
class History final : public framework::CallObserver {
 public:
  static Result<History> create(const std::string& path);

  void on_call(const framework::CallRecord& record, const google::protobuf::Message& request,
               const google::protobuf::Message& reply) override;
  // Until then lines may be in memory. Fails when the file does not hold all of them.
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
