# SPDX-License-Identifier: MIT
# Copies the public headers from SOURCE to TO, with all headers that they include, from SOURCE or
# GENERATED. Their fingerprint goes to the folder PACKAGE, by way of BUILD: libraries of a variant
# fit only the headers that they were compiled with. With a VARIANT, only the fingerprint is
# written, with the name of the COMPILER. Runs when the tree is installed.
cmake_policy(VERSION 3.25)

set(folders
  coroutine coroutine/base coroutine/stack coroutine/sync coroutine/async coroutine/inspect
  coroutine/crash config net net/uv net/tls net/http net/websocket net/one_port rpc rpc/wire
  rpc/observe rpc/auth rpc/client rpc/server rpc/reflection rpc/http framework/time framework/wire
  framework/telemetry framework/directory framework/store
  framework/cluster framework/push framework/alarms framework/objects framework/routing
  framework/edge framework/diagnostics framework/admin framework/node framework/run
  framework/recording)
set(waiting
  rpc/options.pb.h framework/testing/cluster.h framework/testing/nemesis.h
  framework/testing/seed_driver.h framework/testing/simulated_test.h
  framework/testing/trace_files.h net/testing/network.h
  coroutine/testing/leak_checks.h coroutine/testing/matchers.h coroutine/testing/random.h
  coroutine/testing/virtual_time.h)
foreach(folder IN LISTS folders)
  file(GLOB headers RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h)
  list(APPEND waiting ${headers})
endforeach()

set(known)
set(hashes)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST known)
    continue()
  endif()
  list(APPEND known ${header})
  set(path ${SOURCE}/${header})
  if(NOT EXISTS ${path})
    set(path ${GENERATED}/${header})
  endif()
  if(NOT VARIANT)
    cmake_path(GET header PARENT_PATH folder)
    file(INSTALL ${path} DESTINATION ${TO}/${folder})
  endif()
  file(SHA256 ${path} hash)
  list(APPEND hashes ${header} ${hash})

  file(STRINGS ${path} includes REGEX "^#include \"")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(APPEND waiting ${includes})
endwhile()

list(SORT hashes)
string(SHA256 fingerprint "${hashes}")
set(facts corolane-headers.cmake)
set(content "set(corolane_HEADERS ${fingerprint})\n")
if(VARIANT)
  set(facts corolane-${VARIANT}.cmake)
  set(content "set(variant_headers ${fingerprint})\nset(variant_compiler ${COMPILER})\n")
endif()
file(WRITE ${BUILD}/${facts} ${content})
file(INSTALL ${BUILD}/${facts} DESTINATION ${PACKAGE})
