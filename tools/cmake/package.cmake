# SPDX-License-Identifier: MIT
# The Debian package: `cpack -G DEB` in the build tree. That of a variant has only its libraries,
# and stands beside the package of the same version.
set(CPACK_PACKAGE_NAME corolane)
set(CPACK_PACKAGE_CONTACT "the corolane authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runtime for game servers written as straight-line code")
set(CPACK_PACKAGE_DESCRIPTION "Libraries, headers, the plugin of protoc and the command corolane.
One stackful coroutine for each request: a handler that waits for another
player, a timer or a lock simply waits. Objects with durable state live once
in a cluster of nodes, and tests run whole clusters in virtual time.
\"corolane new NAME\" begins a project.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# Adds the shared libraries that the command and the plugin link.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The packages for building programs that use corolane.
set(packages
  "cmake (>= 3.25)" "g++ (>= 4:12)" ninja-build pkg-config protobuf-compiler
  libabsl-dev libboost-context${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev libdw-dev
  libgmock-dev libgtest-dev libhiredis-dev
  libprotobuf-dev libsodium-dev libspdlog-dev libsqlite3-dev libssl-dev libsystemd-dev
  libuv1-dev libyaml-cpp-dev tzdata zlib1g-dev)
list(JOIN packages ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(document_folder ${CMAKE_INSTALL_DOCDIR})
if(COROLANE_VARIANT)
  string(APPEND CPACK_PACKAGE_NAME -${COROLANE_VARIANT})
  string(APPEND CPACK_PACKAGE_DESCRIPTION_SUMMARY " (-fsanitize=${COROLANE_SANITIZE})")
  set(CPACK_PACKAGE_DESCRIPTION "The libraries of the package corolane, built with sanitizers.")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "corolane (= ${PROJECT_VERSION})")
  string(APPEND document_folder -${COROLANE_VARIANT})
endif()

# LICENSE as Debian writes it: each line of a field is indented, and an empty one is a dot.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/LICENSE)
file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)" _ "${license}")
set(holders ${CMAKE_MATCH_1})
string(REGEX REPLACE "^.*(Permission is .*)\n$" "\\1" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
string(REPLACE "\n \n" "\n .\n" license "${license}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/copyright @ONLY CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: corolane

Files: *
Copyright: @holders@
License: Expat
 @license@

Files: framework/admin/web/vendor/uplot/*
Copyright: 2022 Leon Sorokin
License: Expat
")
install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${document_folder})

include(CPack)
