# SPDX-License-Identifier: MIT
# The flags of every target of this repository, and the functions that declare its rooms and tests.
# Functions that are installed, too, have files of their own.
include(${CMAKE_CURRENT_LIST_DIR}/corolane_module.cmake)

# Warnings are errors with the compilers that all changes are compiled with: another version knows
# other warnings, and GCC 14 takes some code of the standard library for an overflow. The hardening
# flags are those of Debian's dpkg-buildflags; -fstack-clash-protection keeps a large frame from
# jumping over a coroutine's guard page, and frame pointers let a suspended coroutine be walked.
add_library(corolane_compile_options INTERFACE)
target_compile_features(corolane_compile_options INTERFACE cxx_std_23)
target_compile_options(corolane_compile_options INTERFACE
  -Wall -Wextra -Wpedantic
  # Files that are compiled as one unit may use the same names.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Werror>
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,20>>:-Werror>
  # libstdc++ 12 sorts by a function that it marks as deprecated; clang warns the callers.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  -fstack-protector-strong -fstack-clash-protection -fno-omit-frame-pointer)
# A switch goes to another stack without a call, which a shadow stack takes for an attack: so no
# object claims to support one, as those of some distributions' compilers would by default.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(corolane_compile_options INTERFACE -fcf-protection=none)
endif()
# GCC collects its garbage from 1 GiB on instead of 128 MiB, which saves a tenth of its time.
target_compile_options(corolane_compile_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)
target_include_directories(corolane_compile_options INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_link_options(corolane_compile_options INTERFACE -Wl,-z,relro -Wl,-z,now)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT COROLANE_SANITIZE)
  target_compile_definitions(corolane_compile_options INTERFACE _FORTIFY_SOURCE=2)
endif()
# Types and variables take a third of a compilation. Targets with the property COROLANE_LINES_ONLY
# do without them in the release build; their stack traces name functions without their classes.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(corolane_compile_options INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:COROLANE_LINES_ONLY>>:-g1>
    # To follow each variable through optimised code takes a fifth; the preset debug shows all.
    $<$<CXX_COMPILER_ID:GNU>:-fno-var-tracking>)
endif()

if(COROLANE_SANITIZE)
  target_compile_options(corolane_compile_options INTERFACE
    -fsanitize=${COROLANE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(corolane_compile_options INTERFACE -fsanitize=${COROLANE_SANITIZE})
  # The code that sanitizers add confuses that warning (GCC's manual); release has it.
  target_compile_options(corolane_compile_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# Lines need no optimisation, but GCC 12 cannot compile a stackless coroutine with counters at -O0.
if(COROLANE_COVERAGE)
  target_compile_options(corolane_compile_options INTERFACE
    -Og --coverage -fprofile-update=atomic)
  target_link_options(corolane_compile_options INTERFACE --coverage)
endif()
# Such a build leaves out the tests that run no code of ours, or only programs of users.
set(COROLANE_INSTRUMENTED OFF)
if(COROLANE_SANITIZE OR COROLANE_COVERAGE)
  set(COROLANE_INSTRUMENTED ON)
endif()

# Half of what a test costs is to compile it: what is tested is optimised and described in full, the
# assertions themselves need not be. Names of a file may be those of another one that is compiled at
# once with it (below). And where the sanitizers look at each of them, not for what crashes anyway.
add_library(corolane_test_options INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" OR COROLANE_SANITIZE)
  target_compile_options(corolane_test_options INTERFACE -Og -g1)
endif()
if(COROLANE_SANITIZE STREQUAL "address,undefined")
  # A null pointer crashes anyway, and to look at each takes a sixth of the time; to look whether
  # each object is aligned another one, for targets that do not take bytes for objects.
  target_compile_options(corolane_compile_options INTERFACE -fno-sanitize=null
    $<$<BOOL:$<TARGET_PROPERTY:COROLANE_TAKES_NO_BYTES_FOR_OBJECTS>>:-fno-sanitize=alignment>)
  # The code of a test is not optimised, and calls a function for each access instead of checking it
  # inline: that takes a third less time to compile.
  target_compile_options(corolane_test_options INTERFACE -O0
    -fno-sanitize=alignment,object-size,vptr,pointer-overflow
    -fno-sanitize=nonnull-attribute,returns-nonnull-attribute
    $<$<CXX_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0>)
endif()

# Most of the rest is to read the same headers again. So 16 files are compiled as one: of tests,
# tools and the framework in the release build. With a sanitizer it is 32 files, of everything and
# without warnings, since that is for what runs. (With 32 in the release build GCC inlines less, and
# a call of an object takes 5 % longer.) The modules below the framework are compiled file by file
# in the release build, everything in debug, which finds what a file forgets to include.
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
  if(COROLANE_SANITIZE OR COROLANE_UNITED)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 32)
  endif()
endif()
if(COROLANE_SANITIZE MATCHES "^(address,undefined|thread)$")
  set(COROLANE_UNITED ON)
  target_compile_options(corolane_compile_options INTERFACE -w)
endif()
set(CMAKE_UNITY_BUILD ${COROLANE_UNITED})
if(COROLANE_UNITED)
  # Types of a file are not those of a header.
  target_compile_options(corolane_compile_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

# corolane_room(MODULE ROOM [APART] SOURCES file... [USES module...]
#   [WRAPS third-party-target...])
#
# One folder of a module as a target of its own, corolane::MODULE_ROOM; corolane_rooms() makes
# corolane::MODULE of them. USES are rooms below it, as MODULE_ROOM, and other modules. With a
# sanitizer the rooms of a module are one library, which takes half as long to compile, except for
# those that are APART because their generated code needs that library.
function(corolane_room module room)
  cmake_parse_arguments(PARSE_ARGV 2 arg "APART" "" "SOURCES;USES;WRAPS")
  set(name ${module}_${room})
  set_property(GLOBAL APPEND PROPERTY COROLANE_ROOMS_${module} ${name})
  if(NOT COROLANE_UNITED OR arg_APART)
    corolane_module(${name} SOURCES ${arg_SOURCES} USES ${arg_USES} WRAPS ${arg_WRAPS})
    return()
  endif()
  set(united corolane_${module}_united)
  if(NOT TARGET ${united})
    add_library(${united} STATIC)
    target_link_libraries(${united} PUBLIC $<BUILD_INTERFACE:corolane_compile_options>)
  endif()
  get_property(rooms GLOBAL PROPERTY COROLANE_ROOMS_${module})
  list(REMOVE_ITEM arg_USES ${rooms})
  list(TRANSFORM arg_USES PREPEND corolane::)
  target_sources(${united} PRIVATE ${arg_SOURCES})
  target_link_libraries(${united} PUBLIC ${arg_USES} PRIVATE ${arg_WRAPS})
  add_library(corolane_${name} INTERFACE)
  add_library(corolane::${name} ALIAS corolane_${name})
  target_link_libraries(corolane_${name} INTERFACE ${united})
endfunction()

# corolane_rooms(MODULE [ROOM...])
#
# corolane::MODULE: those rooms of it, or all so far.
function(corolane_rooms module)
  set(rooms ${ARGN})
  list(TRANSFORM rooms PREPEND ${module}_)
  if(NOT rooms)
    get_property(rooms GLOBAL PROPERTY COROLANE_ROOMS_${module})
  endif()
  list(TRANSFORM rooms PREPEND corolane::)
  add_library(corolane_${module} INTERFACE)
  add_library(corolane::${module} ALIAS corolane_${module})
  target_link_libraries(corolane_${module} INTERFACE ${rooms})
endfunction()

# corolane_room_options(MODULE ROOM COMMAND argument...)
#
# Calls COMMAND, for example target_compile_options, for the library that compiles the room.
function(corolane_room_options module room command)
  set(target corolane_${module}_${room})
  if(COROLANE_UNITED)
    set(target corolane_${module}_united)
  endif()
  cmake_language(CALL ${command} ${target} ${ARGN})
endfunction()

# corolane_compile_alone(file...)
#
# Sources of this folder with names of their own that others of their target have for other things.
function(corolane_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# corolane_compile_united(target...)
#
# Targets of which several files are compiled as one in the release build, too, or wherever anything
# is.
function(corolane_compile_united)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" OR COROLANE_UNITED)
    corolane_unite(${ARGN})
  endif()
endfunction()

# corolane_unite(target...)
#
# Targets of which several files are compiled as one.
function(corolane_unite)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON)
  # Types of a file are not those of a header.
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endforeach()
endfunction()

# corolane_test(NAME [PARTS count] SOURCES file... [SINGLE_THREADED file...] USES module...)
#
# An executable NAME_test from test files, run by ctest under the name NAME. Its main runs all
# tests inside a coroutine in virtual time (coroutine/testing). The thread sanitizer build leaves
# out the files whose tests have a single thread. With PARTS, ctest runs the tests in so many
# processes, which may run at the same time: NAME, NAME_2 and so on.
function(corolane_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PARTS" "SOURCES;SINGLE_THREADED;USES")
  if(COROLANE_SANITIZE STREQUAL "thread")
    set(arg_SINGLE_THREADED "")
  endif()
  add_executable(${name}_test ${arg_SOURCES} ${arg_SINGLE_THREADED})
  corolane_compile_united(${name}_test)
  # The same files together with and without a sanitizer: what compiles here compiles there.
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 32)
  list(TRANSFORM arg_USES PREPEND corolane::)
  target_link_libraries(${name}_test PRIVATE
    ${arg_USES} corolane_compile_options corolane_fixtures corolane_test_support
    corolane_test_options)
  # The coverage preset shows what modules and tools forget to include. Compiled file by file, the
  # tests took two thirds of its time.
  if(COROLANE_COVERAGE)
    corolane_unite(${name}_test)
  endif()
  # Prints only the tests that fail, which would be lost among hundreds.
  add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT arg_PARTS)
    return()
  endif()
  set_property(TEST ${name} PROPERTY
    ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_PARTS} GTEST_SHARD_INDEX=0)
  set_property(TEST ${name} PROPERTY COST 50)
  foreach(part RANGE 2 ${arg_PARTS})
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}_${part} COMMAND ${name}_test --gtest_brief=1
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_property(TEST ${name}_${part} PROPERTY
      ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_PARTS} GTEST_SHARD_INDEX=${index})
    set_property(TEST ${name}_${part} PROPERTY COST 50)
  endforeach()
endfunction()

# corolane_test_part(NAME OF test SUITES suite...)
#
# A promise of the project under a name of its own, for `ctest -R`: some of the suites that the
# program of corolane_test(OF) runs anyway. So an instrumented build does not run them twice.
function(corolane_test_part name)
  if(COROLANE_INSTRUMENTED)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OF" "SUITES")
  list(TRANSFORM arg_SUITES APPEND ".*")
  list(JOIN arg_SUITES ":" filter)
  add_test(NAME ${name} COMMAND ${arg_OF}_test --gtest_brief=1 --gtest_filter=${filter}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # A suite that is not there fits nothing.
  set_property(TEST ${name} PROPERTY FAIL_REGULAR_EXPRESSION "] 0 tests from")
endfunction()
