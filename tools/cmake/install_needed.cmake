# SPDX-License-Identifier: MIT
# Builds the installed targets in BUILD, unless all the files in NEEDED exist. Runs first when the
# tree is installed.
cmake_policy(VERSION 3.25)

foreach(file IN LISTS NEEDED)
  if(NOT EXISTS ${file})
    message(STATUS "Building first: ${file} is missing")
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target installable
      COMMAND_ERROR_IS_FATAL ANY)
    break()
  endif()
endforeach()
