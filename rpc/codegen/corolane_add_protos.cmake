# SPDX-License-Identifier: MIT
# corolane_add_protos(TARGET name PROTOS file... [USES module...] [IMPORT_ROOT folder]
#                     [FRAMEWORK module...] [DESCRIPTORS file])
#
# Adds a static library corolane_NAME, alias corolane::NAME, with the code generated from .proto
# files: X.pb.h with the messages, and X.corolane.h if the file has services.
#
#   corolane_add_protos(TARGET chess_protos PROTOS chess.proto)
#   target_link_libraries(chess_node PRIVATE corolane::chess_protos)
#
# PROTOS        paths from this folder.
# USES          modules to link besides. corolane::rpc is linked for a service, corolane::framework
#               for one of objects, and so is the library of an imported .proto, which has to be
#               declared before.
# IMPORT_ROOT   where import paths begin, and the paths in #include of what is generated. The root
#               of the project when left out.
# FRAMEWORK     what a service of objects links in place of corolane::framework: for objects that
#               are a part of it.
# DESCRIPTORS   a file that the build writes: what the .proto files and their imports declare, for
#               clients that generate no code (a google.protobuf.FileDescriptorSet).
#
# The code of a file is generated again when the file, an import or the generator has changed, and
# compiled again only when the generated code differs: a comment on a message costs no compilation.
function(corolane_add_protos)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;IMPORT_ROOT;DESCRIPTORS"
    "PROTOS;USES;FRAMEWORK")
  _corolane_check_arguments()
  if(NOT arg_IMPORT_ROOT)
    set(arg_IMPORT_ROOT ${PROJECT_SOURCE_DIR})
  endif()
  cmake_path(ABSOLUTE_PATH arg_IMPORT_ROOT NORMALIZE OUTPUT_VARIABLE import_root)
  if(NOT arg_FRAMEWORK)
    set(arg_FRAMEWORK framework)
  endif()
  set(generated ${PROJECT_BINARY_DIR}/generated)

  # All stems are known before any file looks for its imports, which may come later in the list.
  set(stems)
  foreach(proto IN LISTS arg_PROTOS)
    _corolane_own_proto(${proto} stem)
    list(APPEND stems ${stem})
  endforeach()
  set(stems_with_services)
  set(import_roots ${import_root})
  list(TRANSFORM stems PREPEND ${import_root}/ OUTPUT_VARIABLE own_protos)
  list(TRANSFORM own_protos APPEND .proto)
  set(all_protos ${own_protos})
  foreach(stem IN LISTS stems)
    _corolane_read_proto(${stem} has_service has_object imported_targets)
    if(has_service)
      list(APPEND stems_with_services ${stem})
      list(APPEND arg_USES rpc)
    endif()
    if(has_object)
      list(APPEND arg_USES ${arg_FRAMEWORK})
    endif()
    foreach(target IN LISTS imported_targets)
      get_target_property(roots corolane::${target} COROLANE_IMPORT_ROOTS)
      list(APPEND import_roots ${roots})
      get_target_property(protos corolane::${target} COROLANE_PROTOS)
      if(protos)
        list(APPEND all_protos ${protos})
      endif()
      list(APPEND arg_USES ${target})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES arg_USES)
  list(REMOVE_DUPLICATES import_roots)
  list(REMOVE_DUPLICATES all_protos)

  set(sources)
  foreach(stem IN LISTS stems)
    _corolane_generate(${stem} pb cpp protobuf::protoc)
    list(APPEND sources ${generated}/${stem}.pb.cc)
    set_source_files_properties(${generated}/${stem}.pb.cc PROPERTIES
      COMPILE_OPTIONS "-w;-fno-sanitize=undefined")
  endforeach()
  foreach(stem IN LISTS stems_with_services)
    _corolane_generate(${stem} corolane corolane corolane::protoc-gen-corolane
      --plugin=$<TARGET_FILE:corolane::protoc-gen-corolane>)
    list(APPEND sources ${generated}/${stem}.corolane.cc)
  endforeach()
  if(arg_DESCRIPTORS)
    cmake_path(ABSOLUTE_PATH arg_DESCRIPTORS BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE
      OUTPUT_VARIABLE descriptors)
    _corolane_describe(${descriptors})
    list(APPEND sources ${descriptors})
  endif()

  corolane_module(${arg_TARGET} SOURCES ${sources} USES ${arg_USES})
  # Each generated file defines the same names, so no unity build.
  set_target_properties(corolane_${arg_TARGET} PROPERTIES
    COROLANE_IMPORT_ROOTS "${import_roots}" COROLANE_PROTOS "${all_protos}" UNITY_BUILD OFF)
  target_link_libraries(corolane_${arg_TARGET} PUBLIC protobuf::libprotobuf)
  # A system folder, so that its headers cause no warnings in code that includes them.
  target_include_directories(corolane_${arg_TARGET} SYSTEM INTERFACE
    $<BUILD_INTERFACE:${generated}>)
endfunction()

function(_corolane_fail message)
  message(FATAL_ERROR "corolane_add_protos(TARGET ${arg_TARGET}): ${message}")
endfunction()

function(_corolane_check_arguments)
  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " stray)
    _corolane_fail("\"${stray}\" belongs to none of TARGET, PROTOS, USES, IMPORT_ROOT, \
FRAMEWORK and DESCRIPTORS")
  endif()
  foreach(keyword TARGET PROTOS)
    if(NOT arg_${keyword})
      _corolane_fail("${keyword} is missing, as in TARGET chess_protos PROTOS chess.proto")
    endif()
  endforeach()
  if(TARGET corolane_${arg_TARGET} OR TARGET corolane::${arg_TARGET})
    _corolane_fail("there is a corolane_${arg_TARGET} already; choose another name")
  endif()
endfunction()

# Adds a file to this library. Sets `stem` to its path from the import root without ".proto".
function(_corolane_own_proto proto stem)
  cmake_path(ABSOLUTE_PATH proto BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE
    OUTPUT_VARIABLE path)
  if(NOT path MATCHES "\\.proto$")
    _corolane_fail("PROTOS: \"${proto}\" is not a .proto file")
  endif()
  if(NOT EXISTS ${path})
    _corolane_fail("PROTOS: there is no ${path}")
  endif()
  cmake_path(IS_PREFIX import_root ${path} is_below)
  if(NOT is_below)
    _corolane_fail("PROTOS: ${path} is not below ${import_root}, where imports begin; \
say where with IMPORT_ROOT")
  endif()
  cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${import_root})
  get_property(owner GLOBAL PROPERTY _corolane_owner_of_${path})
  if(owner)
    _corolane_fail("a ${path} is part of ${owner} already; \
link that, or give this a path of its own")
  endif()
  set_property(GLOBAL PROPERTY _corolane_owner_of_${path} ${arg_TARGET})
  cmake_path(REMOVE_EXTENSION path LAST_ONLY)
  set(${stem} ${path} PARENT_SCOPE)
endfunction()

# Looks for services, object services and imports, and makes cmake look again whenever the file
# changes. Sets `imported_targets` to the other libraries whose files it imports.
function(_corolane_read_proto stem has_service has_object imported_targets)
  set(path ${import_root}/${stem}.proto)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  # Removes comments. Text in a string that looks like one is lost too, which does no harm.
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")

  set(blank "[ \t\r\n]")
  set(${has_service} FALSE PARENT_SCOPE)
  if(text MATCHES "(^|[^A-Za-z0-9_.])service${blank}+[A-Za-z_][A-Za-z0-9_]*${blank}*{")
    set(${has_service} TRUE PARENT_SCOPE)
  endif()
  set(${has_object} FALSE PARENT_SCOPE)
  # Packages below ours may leave its name out.
  if(text MATCHES "option${blank}*[(]${blank}*([.]?corolane[.])?object${blank}*[)]")
    set(${has_object} TRUE PARENT_SCOPE)
  endif()

  set(targets)
  string(REGEX MATCHALL "import${blank}+(public${blank}+|weak${blank}+)?[\"'][^\"']+[\"']"
    imports "${text}")
  foreach(import IN LISTS imports)
    string(REGEX MATCH "[^\"']+[.]proto" import "${import}")
    get_property(owner GLOBAL PROPERTY _corolane_owner_of_${import})
    if(owner AND NOT owner STREQUAL arg_TARGET)
      list(APPEND targets ${owner})
    elseif(NOT owner AND EXISTS ${import_root}/${import})
      _corolane_fail("${path} imports ${import}, which is part of no library yet; \
declare one before, or add it to PROTOS")
    endif()
  endforeach()
  set(${imported_targets} ${targets} PARENT_SCOPE)
endfunction()

# Makes protoc generate STEM.KIND.h and .cc with its --LANGUAGE_out, again when `generator` has
# changed.
#
# ninja compiles nothing when the generated file keeps its time (restat). make would then generate
# it again each time, so under make the file gets the current time.
function(_corolane_generate stem kind language generator)
  set(fresh ${PROJECT_BINARY_DIR}/generated.fresh)
  set(only_if_different FALSE)
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(only_if_different TRUE)
  endif()
  cmake_path(GET stem PARENT_PATH folder)
  file(MAKE_DIRECTORY ${generated}/${folder} ${fresh}/${folder})
  list(TRANSFORM import_roots PREPEND --proto_path= OUTPUT_VARIABLE proto_paths)
  set(proto ${import_root}/${stem}.proto)
  set(made ${stem}.${kind})
  set(take_over ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/take_over.cmake)
  add_custom_command(
    OUTPUT ${generated}/${made}.cc ${generated}/${made}.h
    COMMAND protobuf::protoc ${ARGN} --${language}_out=${fresh} ${proto_paths}
      --dependency_out=${fresh}/${made}.d ${proto}
    COMMAND ${CMAKE_COMMAND} -DFROM=${fresh} -DTO=${generated} -DSTEM=${made}
      -DONLY_IF_DIFFERENT=${only_if_different} -P ${take_over}
    DEPENDS ${proto} ${generator} ${take_over}
    DEPFILE ${generated}/${made}.d
    COMMENT "Generating ${made}.{h,cc}"
    VERBATIM)
endfunction()

# Makes protoc write what all files of this library and their imports declare.
function(_corolane_describe file)
  list(TRANSFORM import_roots PREPEND --proto_path= OUTPUT_VARIABLE proto_paths)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET file FILENAME name)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${file}
    COMMAND protobuf::protoc --descriptor_set_out=${file} --include_imports ${proto_paths}
      ${own_protos}
    DEPENDS ${all_protos}
    COMMENT "Generating ${name}"
    VERBATIM)
endfunction()
