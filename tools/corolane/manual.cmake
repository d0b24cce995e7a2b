# cmake -DCOROLANE=program -DMANUAL=file -DCOMPLETION=file -P manual.cmake
#
# Writes the manual page corolane.1, of the help texts as they are, and the completion for bash.
function(ask output)
  execute_process(COMMAND ${COROLANE} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# A text that looks on the page as it does here.
function(literal output text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  # What begins a line is no request of troff.
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${output} ".nf\n${text}.fi\n" PARENT_SCOPE)
endfunction()

ask(version --version)
string(STRIP "${version}" version)
ask(overview help)
literal(page "${overview}")
set(page ".TH COROLANE 1 \"\" \"${version}\" \"corolane\"
.SH NAME
corolane \\- begins a game server, and looks at one that runs
.SH SYNOPSIS
.B corolane
COMMAND ...
.SH DESCRIPTION
${page}")

# Its commands are the lines of the overview that are set in by two.
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
file(WRITE ${COMPLETION} "${text}")
