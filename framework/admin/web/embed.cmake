# SPDX-License-Identifier: MIT
# cmake -D FOLDER=... -D OUTPUT=... -P embed.cmake
#
# Writes OUTPUT, a source file with two texts: page.html with the styles and scripts of every page,
# and the same for the dashboard, which has charts besides, and the licence of what draws them.
cmake_policy(VERSION 3.25)
set(styles page.css)
set(scripts figures.js tables.js page.js)
set(uplot vendor/uplot)

# Sets `result` to the contents of the files, one after the other.
function(joined result)
  set(text "")
  foreach(part IN LISTS ARGN)
    file(READ ${FOLDER}/${part} content)
    string(APPEND text "${content}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(document result)
  cmake_parse_arguments(PARSE_ARGV 1 part "" "" "STYLES;SCRIPTS")
  joined(css ${part_STYLES})
  joined(js ${part_SCRIPTS})
  file(READ ${FOLDER}/page.html page)
  string(REPLACE "@styles@" "${css}" page "${page}")
  string(REPLACE "@scripts@" "${js}" page "${page}")
  set(${result} "${page}" PARENT_SCOPE)
endfunction()

document(web_page STYLES ${styles} SCRIPTS ${scripts})
file(READ ${FOLDER}/${uplot}/LICENSE licence)
document(web_dashboard
  STYLES ${styles} dashboard.css ${uplot}/uPlot.min.css
  SCRIPTS ${uplot}/uPlot.iife.min.js ${scripts} charts.js dashboard.js)
string(REPLACE "<body>" "<!-- uPlot, which draws the charts:\n\n${licence}-->\n<body>"
  web_dashboard "${web_dashboard}")

file(WRITE ${OUTPUT}
  "#include \"framework/admin/detail/web_page.h\"\n\n"
  "namespace corolane::framework::detail {\n\n"
  "const std::string_view web_page = R\"corolane(${web_page})corolane\";\n\n"
  "const std::string_view web_dashboard = R\"corolane(${web_dashboard})corolane\";\n\n"
  "}  // namespace corolane::framework::detail\n")
