# SPDX-License-Identifier: MIT
# cmake -DCOROLANE=program -DMANUAL=file -DFOLDER=folder -P manual.cmake
#
# Writes the manual page corolane.1 from the help texts, and the completion scripts into the folder.
function(ask output)
  execute_process(COMMAND ${COROLANE} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Makes a text appear on the page exactly as it is.
function(literal output text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  # Escapes characters that would make a line a troff request.
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${output} ".nf\n${text}.fi\n" PARENT_SCOPE)
endfunction()

ask(version --version)
string(STRIP "${version}" version)
ask(overview help)
literal(page "${overview}")
set(page ".TH COROLANE 1 \"\" \"${version}\" \"corolane\"
.SH NAME
corolane \\- creates a game server project, and inspects a running node
.SH SYNOPSIS
.B corolane
COMMAND ...
.SH DESCRIPTION
${page}")

# The commands are the lines of the overview that are indented by two blanks.
string(REGEX MATCHALL "\n  [a-z]+ " names "${overview}")
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  if(NOT name STREQUAL "help")
    ask(text help ${name})
    literal(text "${text}")
    string(TOUPPER "${name}" title)
    string(APPEND page ".SH ${title}\n${text}")
  endif()
endforeach()
file(WRITE ${MANUAL} "${page}")

ask(text completion bash)
file(WRITE ${FOLDER}/corolane.bash "${text}")
ask(text completion fish)
file(WRITE ${FOLDER}/corolane.fish "${text}")
# zsh finds the function by the name of its file.
ask(text completion zsh)
file(WRITE ${FOLDER}/_corolane "${text}")
