# SPDX-License-Identifier: MIT
# cmake -D FOLDER=... -D OUTPUT=... -P embed.cmake
#
# Writes OUTPUT, a source file with page.html as one text, its style and scripts inside.
cmake_policy(VERSION 3.25)
file(READ ${FOLDER}/page.html page)
foreach(part page.css page.js dashboard.js)
  file(READ ${FOLDER}/${part} content)
  string(REPLACE "@${part}@" "${content}" page "${page}")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"framework/admin/detail/web_page.h\"\n\n"
  "namespace corolane::framework::detail {\n\n"
  "const std::string_view web_page = R\"corolane(${page})corolane\";\n\n"
  "}  // namespace corolane::framework::detail\n")
