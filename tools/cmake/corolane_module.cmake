# SPDX-License-Identifier: MIT
# The functions that declare a module and a service, in this repository and in projects that find it
# installed.
include_guard()

# corolane_module(NAME SOURCES file... [USES module...] [WRAPS third-party-target...])
#
# Adds a static library corolane_NAME, known as corolane::NAME. USES are modules below it, which its
# users get, too; WRAPS are third-party libraries, which its users must not see.
function(corolane_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;WRAPS")
  add_library(corolane_${name} STATIC ${arg_SOURCES})
  add_library(corolane::${name} ALIAS corolane_${name})
  list(TRANSFORM arg_USES PREPEND corolane::)
  target_link_libraries(corolane_${name}
    PUBLIC ${arg_USES} $<BUILD_INTERFACE:$<TARGET_NAME_IF_EXISTS:corolane_compile_options>>
    PRIVATE ${arg_WRAPS})
endfunction()

# corolane_add_service(NAME SOURCES file... [USES module...])
#
# Adds an executable NAME that is a node: its main calls framework::run_main. USES are modules, such
# as those of corolane_add_protos(); it links corolane::framework as well.
#
#   corolane_add_protos(TARGET guild_protos PROTOS guild.proto)
#   corolane_module(guild SOURCES guild.cc USES guild_protos)
#   corolane_add_service(guild_node SOURCES main.cc USES guild)
function(corolane_add_service name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "corolane_add_service(${name}): expected \
corolane_add_service(NAME SOURCES file... [USES module...])")
  endif()
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND corolane::)
  target_link_libraries(${name} PRIVATE ${arg_USES} corolane::framework)
endfunction()
