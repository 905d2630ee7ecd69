# Installs the build into ${WORK}/prefix, and puts its programs on the PATH. Gives run(COMMAND...) and `plumb`.
function(run folder)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${folder}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${WORK} ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
set(plumb ${WORK}/prefix/bin/plumb)
set(ENV{PATH} "${WORK}/prefix/bin:$ENV{PATH}:$ENV{HOME}/.cargo/bin")
# Nothing of the user's.
foreach(variable PLUMB_PLUGIN_PATH PLUMB CMAKE_PREFIX_PATH)
  unset(ENV{${variable}})
endforeach()
set(ENV{XDG_DATA_HOME} ${WORK}/home)
# What this project is built with is there; make need not be.
set(ENV{CMAKE_GENERATOR} ${GENERATOR})
set(ENV{CC} ${CC})
set(ENV{CXX} ${CXX})
