// SPDX-License-Identifier: MIT
// The files of tools/corolane/templates, as they were when the command was built.
#pragma once

#include <span>
#include <string_view>

namespace corolane::tools::cli {

// The project name in the templates; the new name replaces it everywhere.
inline constexpr std::string_view template_name = "my_game";

struct TemplateFile {
  std::string_view name;    // "web/page.js".
  std::string_view client;  // That a project needs to have for this file, "web"; empty: any.
  std::string_view text;
};

std::span<const TemplateFile> project_template();

}  // namespace corolane::tools::cli
