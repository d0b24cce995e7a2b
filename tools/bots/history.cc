// SPDX-License-Identifier: MIT
#include "tools/bots/history.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace corolane::tools::bots {

Result<History> History::create(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return Error(Code::unavailable, "cannot write " + path + ": " + std::strerror(errno));
  }
  return History(file);
}

void History::on_call(const framework::CallRecord& record, const google::protobuf::Message& request,
                      const google::protobuf::Message& reply) {
  nlohmann::json errors = nlohmann::json::array();
  for (const Code error : record.errors) errors.push_back(to_string(error));
  const nlohmann::json head = {{"method", record.method->full_name},
                               {"object", record.object},
                               {"caller", record.caller},
                               {"sequence", record.sequence},
                               {"begin", record.begin.time_since_epoch().count()},
                               {"end", record.end.time_since_epoch().count()},
                               {"errors", std::move(errors)},
                               {"code", record.failure ? to_string(*record.failure) : "ok"}};
  line_ = head.dump();
  line_.back() = ',';
  line_ += "\"request\":";
  is_whole_ = writer_.write(request, line_).has_value() && is_whole_;
  if (!record.failure) {
    line_ += ",\"reply\":";
    is_whole_ = writer_.write(reply, line_).has_value() && is_whole_;
  }
  line_ += "}\n";
  is_whole_ = std::fwrite(line_.data(), 1, line_.size(), file_.get()) == line_.size() && is_whole_;
}

Result<void> History::flush() {
  if (std::fflush(file_.get()) == 0 && is_whole_) return {};
  return Error(Code::data_loss, "the history is incomplete");
}

}  // namespace corolane::tools::bots
