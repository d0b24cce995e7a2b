# SPDX-License-Identifier: MIT
# Chooses the libraries that fit the sanitizer of a project which finds corolane installed.
#
# Tasks have other members with the address and the thread sanitizer, so there are libraries of
# their own for these, the variants asan and tsan, which are installed beside the others. The
# project says which it wants by the cache variable COROLANE_SANITIZE, with the meaning that it has
# in corolane's own build (address,undefined or thread), or just by -fsanitize= among its flags.
include_guard()

set(COROLANE_SANITIZE "" CACHE STRING "Value for -fsanitize=: address,undefined or thread")

# Sets `result` to the flags and definitions of each file of the calling folder.
function(corolane_flags result)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  get_directory_property(options COMPILE_OPTIONS)
  get_directory_property(definitions COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND -D)
  set(${result} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}} ${options} ${definitions})
  list(JOIN ${result} " " flags)
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# corolane_choose_variant(PREFIX)
#
# Sets corolane_TARGETS to the file that describes the libraries, and corolane_LINK_SANITIZER to
# what they link, or corolane_NOT_FOUND_MESSAGE to the reason why no libraries in PREFIX fit, and
# the remedy.
function(corolane_choose_variant prefix)
  corolane_flags(flags)
  set(wanted "${COROLANE_SANITIZE}")
  string(REGEX MATCHALL "-fsanitize=[a-z,-]+" groups "${flags}")
  list(TRANSFORM groups REPLACE "-fsanitize=" "")
  list(APPEND wanted ${groups})
  string(REPLACE "," ";" wanted "${wanted}")

  set(corolane_TARGETS corolane-targets.cmake PARENT_SCOPE)
  set(corolane_LINK_SANITIZER "${COROLANE_SANITIZE}" PARENT_SCOPE)
  set(problem "")
  if("${flags} " MATCHES "-D *_GLIBCXX_DEBUG[= ]")
    set(problem "-D_GLIBCXX_DEBUG gives the containers of libstdc++ other members than those in \
the libraries of corolane, protobuf and Abseil. -D_GLIBCXX_ASSERTIONS checks indices and iterators \
without that.")
  elseif(address IN_LIST wanted)
    corolane_find_variant(asan address address,undefined "${prefix}")
  elseif(thread IN_LIST wanted)
    corolane_find_variant(tsan thread thread "${prefix}")
  endif()
  set(corolane_NOT_FOUND_MESSAGE "${problem}" PARENT_SCOPE)
endfunction()

# Chooses `variant`, or sets `problem`.
macro(corolane_find_variant variant sanitizer linked prefix)
  set(facts ${CMAKE_CURRENT_LIST_DIR}/corolane-${variant}.cmake)
  set(install "In the source of corolane: cmake --preset ${variant} && cmake --build --preset \
${variant} --target installable && cmake --install build/${variant} --prefix ${prefix}. Or install \
the package corolane-${variant}.")
  if(NOT EXISTS ${facts})
    set(problem "with the ${sanitizer} sanitizer, tasks have other members than they have in the \
libraries in ${prefix}, and libraries with it are not installed there. ${install}")
  else()
    include(${facts})
    include(${CMAKE_CURRENT_LIST_DIR}/corolane-headers.cmake)
    if(NOT variant_headers STREQUAL corolane_HEADERS)
      set(problem "the libraries with the ${sanitizer} sanitizer in ${prefix} are of another \
version than the headers. ${install}")
    elseif(NOT variant_compiler STREQUAL CMAKE_CXX_COMPILER_ID)
      set(problem "the libraries with the ${sanitizer} sanitizer in ${prefix} were compiled by \
${variant_compiler}, and ${CMAKE_CXX_COMPILER_ID} has another library of that sanitizer. Compile \
with ${variant_compiler}, or build corolane with ${CMAKE_CXX_COMPILER}.")
    else()
      set(corolane_TARGETS corolane-${variant}-targets.cmake PARENT_SCOPE)
      set(corolane_LINK_SANITIZER ${linked} PARENT_SCOPE)
    endif()
  endif()
endmacro()

# Lets add_test() run the programs of the calling folder without random addresses where these are so
# random that GCC's thread sanitizer finds a program where it keeps its shadow memory. Only root may
# read how random they are.
macro(corolane_fix_addresses_of_tests)
  set(random_bits 32)
  execute_process(COMMAND cat /proc/sys/vm/mmap_rnd_bits
    OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(random_bits ${said})
  endif()
  if(random_bits GREATER 28)
    # The first is of CMake 3.29, the second of those before.
    set(CMAKE_TEST_LAUNCHER setarch --addr-no-randomize)
    set(CMAKE_CROSSCOMPILING_EMULATOR setarch --addr-no-randomize)
  endif()
endmacro()

# Gives the sanitizer to everything that links corolane.
function(corolane_add_sanitizer)
  if(corolane_LINK_SANITIZER)
    target_link_options(corolane::base INTERFACE -fsanitize=${corolane_LINK_SANITIZER})
  endif()
  if(COROLANE_SANITIZE)
    target_compile_options(corolane::base INTERFACE
      -fsanitize=${COROLANE_SANITIZE} -fno-sanitize-recover=all)
  endif()
  if(corolane_LINK_SANITIZER STREQUAL "thread")
    # With this macro protobuf's map fields have members that the packaged library, built without
    # it, does not have; coroutine/stack/detail/sanitizer.h knows the other one.
    foreach(target IN ITEMS protobuf::libprotobuf corolane::base)
      set_property(TARGET ${target} APPEND PROPERTY
        INTERFACE_COMPILE_OPTIONS -U__SANITIZE_THREAD__ -DCOROLANE_TSAN=1)
    endforeach()
  endif()
endfunction()
