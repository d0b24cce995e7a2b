# SPDX-License-Identifier: MIT
# cmake -DFROM=folder -DTO=folder -DSTEM=path -DONLY_IF_DIFFERENT=bool -P take_over.cmake
#
# Copies STEM.h and STEM.cc from protoc's output folder to the folder where they are compiled: with
# ONLY_IF_DIFFERENT an unchanged file keeps its time. Rewrites STEM.d, their dependencies, for the
# copies.
set(how)
if(ONLY_IF_DIFFERENT)
  set(how ONLY_IF_DIFFERENT)
endif()
foreach(suffix h cc)
  file(COPY_FILE ${FROM}/${STEM}.${suffix} ${TO}/${STEM}.${suffix} ${how})
endforeach()

file(READ ${FROM}/${STEM}.d dependencies)
string(REPLACE "${FROM}/" "${TO}/" dependencies "${dependencies}")
file(WRITE ${TO}/${STEM}.d "${dependencies}")
