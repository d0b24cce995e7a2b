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

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/json.h"

namespace corolane::tools::bots {

struct CallRecord {
  std::string_view method;
  std::string_view object;
  std::string_view caller;
  std::uint64_t sequence = 0;
  TimePoint begin;
  TimePoint end;
  std::vector<Code> errors;
  std::optional<Code> failure = {};
};

// Belongs to one thread.
class History {
 public:
  static Result<History> create(const std::string& path);

  // `reply` is of no meaning after a failure.
  void add(const CallRecord& record, const google::protobuf::Message& request,
           const google::protobuf::Message& reply);
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
