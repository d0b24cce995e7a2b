# corolane_add_protos(TARGET name PROTOS file... [USES module...])
#
# A static library corolane_NAME, known as corolane::NAME, of what is generated from .proto files
# of this folder: X.pb.h with the messages, and X.corolane.h if the file has services. They are
# included by the path of the .proto. USES are modules, among them the protos that these import;
# corolane::rpc is added for a service.
#
#   corolane_add_protos(TARGET chess_protos PROTOS chess.proto)
#
# Imports are paths from the root of the tree. A file is generated again when it, one that it
# imports or what generates it has changed.
function(corolane_add_protos)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "PROTOS;USES")
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(sources)
  foreach(proto IN LISTS arg_PROTOS)
    set(proto_path ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    cmake_path(RELATIVE_PATH proto_path BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE stem)
    cmake_path(REMOVE_EXTENSION stem LAST_ONLY)
    set(stem ${generated}/${stem})

    _corolane_generate(${proto_path} ${stem}.pb protobuf::protoc --cpp_out=${generated})
    list(APPEND sources ${stem}.pb.cc)
    set_source_files_properties(${stem}.pb.cc PROPERTIES COMPILE_OPTIONS -w)

    # Looked at again by cmake whenever the file changes.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${proto_path})
    file(READ ${proto_path} text)
    if(text MATCHES "(^|[\n;}/])[ \t]*service[ \t\n]+[A-Za-z_]")
      _corolane_generate(${proto_path} ${stem}.corolane protoc-gen-corolane
        --plugin=$<TARGET_FILE:protoc-gen-corolane> --corolane_out=${generated})
      list(APPEND sources ${stem}.corolane.cc)
      list(APPEND arg_USES rpc)
    endif()
  endforeach()

  list(REMOVE_DUPLICATES arg_USES)
  corolane_module(${arg_TARGET} SOURCES ${sources} USES ${arg_USES})
  target_link_libraries(corolane_${arg_TARGET} PUBLIC protobuf::libprotobuf)
  # A system folder, so that no warning comes from there into code that includes it.
  target_include_directories(corolane_${arg_TARGET} SYSTEM INTERFACE ${generated})
endfunction()

# Has protoc make STEM.cc and STEM.h of a .proto file, again after `generator` changed.
function(_corolane_generate proto_path stem generator)
  cmake_path(GET stem PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${stem}.cc ${stem}.h
    COMMAND protobuf::protoc ${ARGN} -I ${PROJECT_SOURCE_DIR} --dependency_out=${stem}.d
      ${proto_path}
    DEPENDS ${proto_path} ${generator}
    DEPFILE ${stem}.d
    VERBATIM)
endfunction()
