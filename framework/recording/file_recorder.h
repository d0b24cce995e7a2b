// SPDX-License-Identifier: MIT
// Lets a program record the input of its node to a file (node.record.file) and replay it
// (--replay):
//
//   const framework::recording::FileRecorder recorder;
//   return framework::run_main(argc, argv, set_up, &recorder);
#pragma once

#include <string>

#include "framework/run/recorder.h"

namespace corolane::framework::recording {

class FileRecorder final : public Recorder {
 public:
  int record(framework::detail::Program& program) const override;
  int replay(framework::detail::Program& program, const std::string& recording,
             const std::string& trace) const override;
};

}  // namespace corolane::framework::recording
