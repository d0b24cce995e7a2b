// SPDX-License-Identifier: MIT
#include "tools/corolane/new_project.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tools/corolane/project_name.h"
#include "tools/corolane/project_template.h"

namespace corolane::tools::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view new_help =
    R"(Usage: corolane new NAME [--client CLIENT]

Creates a project: writes the folder NAME with a game server that builds, passes
its test and serves. It has guilds that keep gold: a .proto, an object, a typed
configuration, a main, a test in which a node crashes, a bot and a Dockerfile.

  NAME             at most 40 lower-case letters, digits and single '_', a
                   letter first: it is also a namespace
  --client CLIENT  "web" adds a page for browsers that logs in, donates, and
                   shows live what others do. The node serves it: HTML and
                   JavaScript with all libraries, without npm. Default: "none"
  --help           print this text

  corolane new demo --client web
  cd demo && cmake --workflow --preset debug

An existing file or folder is never changed.

Exit status: 0 success, 1 a write error, 2 wrong usage, or NAME is invalid
or exists already.
)";

constexpr auto new_options =
    std::to_array<OptionRule>({{.name = "--client", .has_value = true, .choices = "none web"}});

// In a template, a line with the first mark begins lines that are only for projects with this
// client, and a line with the second mark ends them.
constexpr std::string_view block_begin = "{{client ";
constexpr std::string_view block_end = "{{end}}";

// The lines of a template for a client, without the marks.
std::string lines_for(std::string_view client, std::string_view text) {
  const std::string own_begin = std::string(block_begin).append(client).append("}}");
  std::string result;
  bool is_kept = true;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    if (line.contains(block_begin)) {
      is_kept = line.contains(own_begin);
    } else if (line.contains(block_end)) {
      is_kept = true;
    } else if (is_kept) {
      result.append(line);
    }
  }
  return result;
}

std::string with_name(std::string_view text, std::string_view name) {
  std::string result;
  for (auto at = text.find(template_name); at != text.npos; at = text.find(template_name)) {
    result.append(text.substr(0, at)).append(name);
    text.remove_prefix(at + template_name.size());
  }
  return result.append(text);
}

Error cannot_write(const fs::path& path, const std::error_code& why) {
  return Error(Code::unavailable, path.string() + ": " + why.message());
}

Result<void> write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return cannot_write(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return cannot_write(path, std::error_code(errno, std::generic_category()));
  return {};
}

Result<void> write_files(const fs::path& folder, std::string_view name, std::string_view client) {
  std::error_code error;
  if (!fs::create_directory(folder, error)) return cannot_write(folder, error);
  for (const TemplateFile& file : project_template()) {
    if (!file.client.empty() && file.client != client) continue;
    const fs::path path = folder / with_name(file.name, name);
    const std::string text = lines_for(client, file.text);
    if (auto written = write_file(path, with_name(text, name)); !written) return written;
  }
  return {};
}

std::string what_next(std::string_view name, std::string_view client) {
  return with_name(lines_for(client, R"(Wrote my_game/, a server of guilds that keep gold. Next:

  cd my_game
  cmake --workflow --preset debug
  build/debug/my_game_node --config my_game.yaml

{{client web}}
and while it serves, in a browser and from another terminal:

  http://127.0.0.1:8460/
{{end}}
{{client none}}
and while it serves, from another terminal:

{{end}}
  corolane call 127.0.0.1:8460 Guild/Donate '{"gold": 5}' --object lions
  build/debug/my_game_bot

my_game/README.md says what each file is.
)"),
                   name);
}

Outcome run_new(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("new", "needs the NAME of a project");
  if (words.size() > 1) return wrong_usage("new", "stray argument \"" + words[1] + "\"");
  const auto option = arguments.options.find("--client");
  const std::string client = option == arguments.options.end() ? "none" : option->second;
  const auto written = write_project(".", words[0], client);
  if (written) return what_next(words[0], client);
  const std::string message = "corolane new: " + written.error().message();
  return written.error().code() == Code::unavailable ? failed(message) : misused(message);
}

}  // namespace

constexpr Command new_command = {
    .name = "new",
    .summary = "creates a project: a game server with its test",
    .help = new_help,
    .options = new_options,
    .run = run_new,
};

Result<void> write_project(const fs::path& parent, std::string_view name, std::string_view client) {
  if (auto checked = check_project_name(name); !checked) return checked;
  const fs::path folder = parent / name;
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    return Error(Code::already_exists, '"' + std::string(name) +
                                           "\" exists already; choose another name, or create "
                                           "it in another folder");
  }
  // Written under another name until it is complete.
  const fs::path unfinished = parent / ("." + std::string(name) + "." + std::to_string(getpid()));
  auto written = write_files(unfinished, name, client);
  if (written) {
    fs::rename(unfinished, folder, error);
    if (!error) return {};
    written = cannot_write(folder, error);
  }
  fs::remove_all(unfinished, error);
  return written;
}

}  // namespace corolane::tools::cli
