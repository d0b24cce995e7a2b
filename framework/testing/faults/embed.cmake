# SPDX-License-Identifier: MIT
# cmake -DFOLDER=folder -DOUTPUT=file -P embed.cmake
#
# Writes the source file that contains the faults in `network` and `machines` as text: those of the
# network first, each folder sorted by name.
set(entries)
foreach(part IN ITEMS network machines)
  file(GLOB files ${FOLDER}/${part}/*.yaml)
  list(SORT files)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    cmake_path(GET file STEM name)
    string(APPEND entries "    {\"${name}\", R\"fault(${text})fault\"},\n")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "// Made by framework/testing/faults/embed.cmake.
#include \"framework/testing/detail/fault_texts.h\"

namespace corolane::sim {

std::span<const FaultText> fault_texts() {
  static constexpr FaultText texts[] = {
${entries}  };
  return texts;
}

}  // namespace corolane::sim
")
