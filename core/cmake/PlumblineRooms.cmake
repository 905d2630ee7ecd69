# One function for each kind of room. A room is a target; what it may see is what it links.

set(PLUMB_ROOMS ".*" CACHE STRING "Rooms to build, a regular expression on their paths, for example ^(core/base|backends)")

# plumb_add_rooms(base host): those folders of this one that PLUMB_ROOMS asks for.
function(plumb_add_rooms)
  foreach(room ${ARGN})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE parent)
    if("${parent}/${room}" MATCHES "${PLUMB_ROOMS}")
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# plumb_room(base SOURCES a.cc SEES plumb_sdk PACKAGES Threads::Threads): the target plumb_base of core/base.
function(plumb_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;SEES;PACKAGES" ${ARGN})
  add_library(plumb_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(plumb_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(plumb_${name} PUBLIC ${ROOM_SEES} PRIVATE plumb_options ${ROOM_PACKAGES})
endfunction()

# plumb_plugin(plumb.samplers.core SOURCES plugin.cc ... DESCRIPTION "..." EXTENSIONS plumb.sampler/1
#              [PACKAGES ...] [OPTIONS compile options])
# A shared library of that very name with one exported symbol, and its side-car manifest. All but plugin.cc is
# also an object library, plumb.samplers.core.objects, for unit tests.
function(plumb_plugin id)
  cmake_parse_arguments(PLUGIN "" "DESCRIPTION" "SOURCES;EXTENSIONS;PACKAGES;OPTIONS" ${ARGN})
  set(inner ${PLUGIN_SOURCES})
  list(FILTER inner EXCLUDE REGEX "plugin\\.cc?$")
  set(outer ${PLUGIN_SOURCES})
  list(FILTER outer INCLUDE REGEX "plugin\\.cc?$")
  plumbline_add_plugin(${id} SOURCES ${outer} EXTENSIONS ${PLUGIN_EXTENSIONS} VERSION ${PROJECT_VERSION}
    VENDOR Plumbline LICENSE Apache-2.0 DESCRIPTION "${PLUGIN_DESCRIPTION}" OPTIONS ${PLUGIN_OPTIONS}
    OUTPUT_DIRECTORY ${PLUMB_PLUGIN_DIR})
  if(inner)
    add_library(${id}.objects OBJECT ${inner})
    target_include_directories(${id}.objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_options(${id}.objects PRIVATE ${PLUGIN_OPTIONS})
    target_link_libraries(${id}.objects PUBLIC plumb_sdk ${PLUGIN_PACKAGES} PRIVATE plumb_options)
    target_link_libraries(${id} PRIVATE ${id}.objects)
  endif()
  target_link_libraries(${id} PRIVATE plumb_options ${PLUGIN_PACKAGES})
  if(NOT PLUMB_SANITIZE)
    target_link_options(${id} PRIVATE -Wl,--no-undefined)
  endif()
  install(TARGETS ${id} LIBRARY DESTINATION lib/plumbline)
  plumb_know_plugin(${id})
endfunction()

# plumb_know_plugin(id): installs its manifest, as the library where the host looks, from its own executable:
# ../lib/plumbline, whatever the system calls its library folder.
function(plumb_know_plugin id)
  install(FILES ${PLUMB_PLUGIN_DIR}/${id}.plugin.json DESTINATION lib/plumbline)
  set_property(GLOBAL APPEND PROPERTY PLUMB_PLUGINS ${id})
endfunction()

# plumb_python_runner(transformers): the Python files, maps and requirements of this folder, and the loop of the SDK
# beside them, where the host looks for a runner of that name.
function(plumb_python_runner name)
  file(GLOB files CONFIGURE_DEPENDS *.py requirements.txt maps/*.yaml)
  foreach(file ${files} ${PROJECT_SOURCE_DIR}/core/sdk/python/plumb_runner.py)
    cmake_path(GET file FILENAME made)
    set(folder runners/${name})
    if(file MATCHES "/maps/")
      string(APPEND folder /maps)
    endif()
    configure_file(${file} ${PLUMB_PLUGIN_DIR}/${folder}/${made} COPYONLY)
    install(FILES ${file} DESTINATION lib/plumbline/${folder})
  endforeach()
endfunction()

# plumb_test(name SOURCES a_test.cc LINKS plumb_base TIER check|model|soak [NEEDS targets built before])
# A GoogleTest program is one ctest, with the tier as its label.
function(plumb_test name)
  cmake_parse_arguments(TEST "" "TIER" "SOURCES;LINKS;NEEDS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_precompile_headers(${name} REUSE_FROM plumb_test_headers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${TEST_LINKS} plumb_options GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE PLUMB_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    PLUMB_BUILD_PLUGIN_DIR="${PLUMB_PLUGIN_DIR}" PLUMB_BUILD_BIN_DIR="${PLUMB_BIN_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(TEST_NEEDS)
    add_dependencies(${name} ${TEST_NEEDS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${TEST_TIER} TIMEOUT 900)
  plumb_gtest_verdict(${name})
endfunction()

# plumb_gtest_verdict(name): a program that skipped all of its tests has passed none: ctest says skipped, not passed.
# GoogleTest names failures behind what was skipped, and ctest would call both skipped: so nothing else may follow. One
# without tests fails.
function(plumb_gtest_verdict name)
  set_tests_properties(${name} PROPERTIES
    SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n)+\n*$"
    FAIL_REGULAR_EXPRESSION "Running 0 tests from 0 test suites")
endfunction()
