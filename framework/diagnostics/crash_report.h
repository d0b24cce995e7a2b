// What a node that dies of a signal leaves behind: a file that says which task of which object ran,
// where it was, and where all others were.
//
// The file is in node.crash.folder, "PROGRAM-NODE-20261123T011800Z-PID.crash"; a line of the log
// has its path. What it tells is for people, see the chapter in README.md. Functions have names in
// it when the process had the time for that; explain_crash() adds them later.
#pragma once

#include <string>

#include "coroutine/base/result.h"
#include "framework/node/node_config.h"

namespace corolane::framework {

// From now on, until the process ends; before its first scheduler runs. Removes reports of this
// node beyond the newest ones. Fails as the system does that cannot write in that folder: then the
// reports will be on stderr.
Result<void> report_crashes(const NodeConfig& config, const std::string& program_name);

// The text of a report with the names of functions. Blocks. Fails with not_found, and with
// failed_precondition when it is no report, or one of another build of the program.
Result<std::string> explain_crash(const std::string& path);

}  // namespace corolane::framework
