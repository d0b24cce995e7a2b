# SPDX-License-Identifier: MIT
# The files that `cmake --install` puts into a prefix for find_package(corolane): libraries,
# headers, protos, the plugin and the command. A build with a sanitizer installs only its libraries,
# as a variant beside the others (corolane_variant.cmake). Included last: it names targets of all
# folders.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/corolane)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/corolane)
set(library_folder ${CMAKE_INSTALL_LIBDIR}/corolane)
set(targets_file corolane-targets.cmake)
set(tools protoc-gen-corolane corolane)
if(COROLANE_VARIANT)
  set(library_folder ${library_folder}/${COROLANE_VARIANT})
  set(targets_file corolane-${COROLANE_VARIANT}-targets.cmake)
  set(tools)
endif()

# The modules for services and for their tests.
set(libraries base config rpc_protos rpc_wire_protos rpc_reflection_protos framework_protos
  framework_user_protos
  recording_protos sim test_support testing)
foreach(module IN ITEMS coroutine net rpc framework)
  get_property(rooms GLOBAL PROPERTY COROLANE_ROOMS_${module})
  list(APPEND libraries ${module} ${rooms})
  if(TARGET corolane_${module}_united)
    list(APPEND libraries ${module}_united)
  endif()
endforeach()
if(TARGET corolane_coroutine_lock_watch)
  list(APPEND libraries coroutine_lock_watch)
endif()
foreach(library IN LISTS libraries)
  set_target_properties(corolane_${library} PROPERTIES EXPORT_NAME ${library})
  target_compile_features(corolane_${library} INTERFACE $<INSTALL_INTERFACE:cxx_std_23>)
  target_include_directories(corolane_${library} INTERFACE $<INSTALL_INTERFACE:${header_folder}>)
endforeach()
# The options for code that runs in tasks; our own targets have them by corolane_compile_options.
target_compile_options(corolane_coroutine_stack INTERFACE
  $<INSTALL_INTERFACE:-fstack-clash-protection;-fno-omit-frame-pointer>)

list(TRANSFORM libraries PREPEND corolane_ OUTPUT_VARIABLE targets)
# Runs before any file is copied, since some builds, such as that of tools/run, are partial.
set(manual ${PROJECT_BINARY_DIR}/corolane.1)
set(completions
  ${PROJECT_BINARY_DIR}/corolane.bash
  ${PROJECT_BINARY_DIR}/corolane.fish
  ${PROJECT_BINARY_DIR}/_corolane)
set(needed)
if(tools)
  set(needed ${manual} ${completions})
endif()
foreach(target IN LISTS targets tools)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(APPEND needed $<TARGET_FILE:${target}>)
  endif()
endforeach()
install(CODE "
  set(BUILD \"${PROJECT_BINARY_DIR}\")
  set(NEEDED \"${needed}\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/install_needed.cmake\")")
install(TARGETS ${targets} EXPORT corolane ARCHIVE DESTINATION ${library_folder})
install(EXPORT corolane NAMESPACE corolane:: FILE ${targets_file} DESTINATION ${package_folder})

# Without our debug information the libraries are a tenth as large, and link faster. Stack traces
# keep the names of our functions.
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${library_folder}\")
  file(GLOB archives \${folder}/*.a)
  execute_process(COMMAND ${CMAKE_STRIP} --strip-debug \${archives} COMMAND_ERROR_IS_FATAL ANY)")

# Copies the headers of the public folders, and those that they include; a variant only notes which
# they were when it was built.
install(CODE "
  set(VARIANT \"${COROLANE_VARIANT}\")
  set(COMPILER \"${CMAKE_CXX_COMPILER_ID}\")
  set(BUILD \"${PROJECT_BINARY_DIR}\")
  set(PACKAGE \"\${CMAKE_INSTALL_PREFIX}/${package_folder}\")
  set(SOURCE ${PROJECT_SOURCE_DIR})
  set(GENERATED ${PROJECT_BINARY_DIR}/generated)
  set(TO \"\${CMAKE_INSTALL_PREFIX}/${header_folder}\")
  include(${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake)")

# Builds everything that is installed.
add_custom_target(installable)
add_dependencies(installable ${targets} ${tools})
if(COROLANE_VARIANT)
  return()
endif()

install(TARGETS protoc-gen-corolane EXPORT corolane-tools
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT corolane-tools NAMESPACE corolane:: DESTINATION ${package_folder})
install(TARGETS corolane RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES rpc/options.proto DESTINATION ${header_folder}/rpc)
install(FILES rpc/reflection/reflection.proto DESTINATION ${header_folder}/rpc/reflection)

configure_package_config_file(tools/cmake/corolane-config.cmake.in
  ${PROJECT_BINARY_DIR}/corolane-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS header_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/corolane-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/corolane-config.cmake
  ${PROJECT_BINARY_DIR}/corolane-config-version.cmake
  tools/cmake/corolane_module.cmake
  tools/cmake/corolane_variant.cmake
  rpc/codegen/corolane_add_protos.cmake
  rpc/codegen/take_over.cmake
  DESTINATION ${package_folder})

# The manual and the completions are generated from the command's own tables.
add_custom_command(OUTPUT ${manual} ${completions}
  COMMAND ${CMAKE_COMMAND} -DCOROLANE=$<TARGET_FILE:corolane> -DMANUAL=${manual}
    -DFOLDER=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/tools/corolane/manual.cmake
  DEPENDS corolane ${PROJECT_SOURCE_DIR}/tools/corolane/manual.cmake
  COMMENT "Writing the manual of corolane"
  VERBATIM)
add_custom_target(corolane_manual ALL DEPENDS ${manual} ${completions})
add_dependencies(installable corolane_manual)
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/corolane.bash RENAME corolane
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/corolane.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${PROJECT_BINARY_DIR}/_corolane
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
# The page of chess, for node.clients.files.
install(DIRECTORY services/chess/web DESTINATION ${CMAKE_INSTALL_DATADIR}/corolane/chess)
install(FILES tools/gdb/corolane.py DESTINATION ${CMAKE_INSTALL_DATADIR}/corolane/gdb)
