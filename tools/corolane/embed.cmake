# SPDX-License-Identifier: MIT
# cmake -DFOLDER=folder -DFILES=name,... -DOUTPUT=file -P embed.cmake
#
# Writes the source file that contains the files as text: project_template().
string(REPLACE "," ";" names "${FILES}")
set(entries)
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name} text)
  string(APPEND entries "    {\"${name}\", R\"template(${text})template\"},\n")
endforeach()
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
