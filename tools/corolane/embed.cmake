# SPDX-License-Identifier: MIT
# cmake -DFOLDER=folder -DFILES=name,... -DWEB_FILES=name,... -DOUTPUT=file -P embed.cmake
#
# Writes the source file that contains the files as text: project_template(). WEB_FILES are those
# for projects with a page alone.
set(entries)
function(add_entries client files)
  string(REPLACE "," ";" names "${files}")
  foreach(name IN LISTS names)
    file(READ ${FOLDER}/${name} text)
    string(APPEND entries "    {\"${name}\", \"${client}\", R\"template(${text})template\"},\n")
  endforeach()
  set(entries "${entries}" PARENT_SCOPE)
endfunction()
add_entries("" "${FILES}")
add_entries(web "${WEB_FILES}")
file(WRITE ${OUTPUT} "// Made by tools/corolane/embed.cmake.
#include \"tools/corolane/project_template.h\"

namespace corolane::tools::cli {

std::span<const TemplateFile> project_template() {
  static constexpr TemplateFile files[] = {
${entries}  };
  return files;
}

}  // namespace corolane::tools::cli
")
