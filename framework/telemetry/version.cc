// SPDX-License-Identifier: MIT
#include "framework/telemetry/version.h"

namespace corolane::framework {

std::string_view version() { return COROLANE_VERSION; }

}  // namespace corolane::framework
