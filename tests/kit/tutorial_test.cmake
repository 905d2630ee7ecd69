# cmake -DBUILD=... -DSOURCE=... -DWORK=... -P tutorial_test.cmake
# Every command of core/doc/plugins.md, in order, in one shell that stops at the first that fails. What is done as root, the
# installing of the package, is clean_root.sh's to do.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/prefix.cmake)
run(${WORK} awk -v fence=```sh -f ${CMAKE_CURRENT_LIST_DIR}/blocks.awk ${SOURCE}/core/doc/plugins.md)
file(WRITE ${WORK}/tutorial.sh "${out}")
set(ENV{HOME} ${WORK}/home)
unset(ENV{XDG_DATA_HOME})
run(${WORK} bash -eux ${WORK}/tutorial.sh)
foreach(expected "WRONG" "all 67 ops give equal bits" "plumb.kernels/1" "100% tests passed")
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "the tutorial's output lacks ${expected}:\n${out}")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK})
