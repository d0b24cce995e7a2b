# SPDX-License-Identifier: MIT
# In the release build GCC parses the headers of the standard library, protobuf and GoogleTest once
# instead of for each file, which takes two seconds each time. Other builds do without: debug and
# coverage find what a file forgets to include, and a project that adds this one may have options of
# its own.
#
# Included last, when all targets are known. Precompiled headers fit only what is compiled with the
# same options, so there is one library of them for each kind of target. A source with options of
# its own has the property SKIP_PRECOMPILE_HEADERS.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" OR
   CMAKE_CROSSCOMPILING OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# corolane_precompile(NAME HEADERS header... LINKS library...)
function(corolane_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINKS")
  set(source ${PROJECT_BINARY_DIR}/corolane_${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Its target needs a source.\n")
  add_library(corolane_${name} OBJECT ${source})
  list(TRANSFORM arg_HEADERS REPLACE "(.+)" "<\\1>")
  target_precompile_headers(corolane_${name} PRIVATE ${arg_HEADERS})
  target_link_libraries(corolane_${name} PRIVATE ${arg_LINKS} corolane_compile_options)
endfunction()

# corolane_targets_below(FOLDER VARIABLE)
#
# All that is compiled there.
function(corolane_targets_below folder variable)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS folders)
    corolane_targets_below(${each} below)
    list(APPEND targets ${below})
  endforeach()
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()

set(headers algorithm array atomic chrono cstdint expected functional map memory mutex optional span
  string string_view unordered_map utility variant vector)
corolane_precompile(headers HEADERS ${headers})
corolane_precompile(headers_of_protobuf
  HEADERS ${headers} google/protobuf/message.h LINKS protobuf::libprotobuf)
corolane_precompile(headers_of_tests
  HEADERS ${headers} google/protobuf/message.h gmock/gmock.h gtest/gtest.h
  LINKS protobuf::libprotobuf GTest::gmock corolane::coroutine corolane_test_options)

# GCC 12 forgets that what is precompiled came from a header of the system, and warns about the
# inside of std::string where the first two use it. hiredis has the third define a macro of the C
# library.
set_target_properties(corolane_net_http corolane_redis_server corolane_framework_store PROPERTIES
  DISABLE_PRECOMPILE_HEADERS ON)

foreach(folder coroutine config net rpc framework services tools test)
  corolane_targets_below(${PROJECT_SOURCE_DIR}/${folder} targets)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(links ${target} LINK_LIBRARIES)
    get_target_property(has_lines_only ${target} COROLANE_LINES_ONLY)
    if(NOT type MATCHES "^(STATIC_LIBRARY|EXECUTABLE)$" OR has_lines_only OR
       NOT links MATCHES "corolane")
      continue()
    endif()
    set(kind headers_of_protobuf)
    if(links MATCHES "corolane_test_options")
      set(kind headers_of_tests)
    elseif(folder MATCHES "^(coroutine|config|net)$")
      set(kind headers)
    endif()
    target_precompile_headers(${target} REUSE_FROM corolane_${kind})
  endforeach()
endforeach()
