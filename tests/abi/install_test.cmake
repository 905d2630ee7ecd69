# cmake -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -DCC=... -DCXX=... -P install_test.cmake
# Installs the build into an empty prefix, builds a plugin author's project against it, and has the installed
# plumb-scan look at both plugins. Oracle: their own descriptions.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect what text)
  string(FIND "${out}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${what}: expected ${text}, seen\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/abi/out_of_tree/acme -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DMINIMAL_PLUGIN=${SOURCE}/tests/abi/minimal_plugin.c -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(id acme.lowest acme.cxx)
  run(${WORK}/prefix/libexec/plumbline/plumb-scan ${WORK}/build/${id}.so)
  expect("the scan of ${id}" "\"id\": \"${id}\"")
endforeach()
if(NOT EXISTS ${WORK}/prefix/include/plumb/plumb.h OR NOT EXISTS ${WORK}/prefix/include/plumb/sdk/entry.h)
  message(FATAL_ERROR "the public headers are not under ${WORK}/prefix/include/plumb")
endif()
file(REMOVE_RECURSE ${WORK})
