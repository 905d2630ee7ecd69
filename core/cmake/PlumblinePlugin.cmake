# A plugin's target, for this project and, installed with the package, for authors elsewhere.

# plumbline_add_plugin(acme.fast SOURCES plugin.c ... EXTENSIONS plumb.kernels/1 VERSION 1.0.0 VENDOR Acme
#                      LICENSE Apache-2.0 DESCRIPTION "..." [OPTIONS compile options] [OUTPUT_DIRECTORY folder])
# A shared library of that very name with one exported symbol, acme.fast.so, and its side-car manifest beside it. The
# sources see the C headers and, in C++, the sdk; PLUMB_PLUGIN_ID, _VERSION, _VENDOR, _LICENSE, _DESCRIPTION and _BUILD are
# defined as texts, for PLUMB_DEFINE_PLUGIN.
function(plumbline_add_plugin id)
  cmake_parse_arguments(PLUGIN "" "VERSION;VENDOR;LICENSE;DESCRIPTION;OUTPUT_DIRECTORY" "SOURCES;EXTENSIONS;OPTIONS" ${ARGN})
  foreach(needed SOURCES EXTENSIONS VERSION VENDOR LICENSE DESCRIPTION)
    if("${PLUGIN_${needed}}" STREQUAL "")
      message(FATAL_ERROR "plumbline_add_plugin(${id}): ${needed} is missing")
    endif()
  endforeach()
  if(NOT PLUGIN_OUTPUT_DIRECTORY)
    set(PLUGIN_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(language C)
  set(interface Plumbline::abi)
  if("${PLUGIN_SOURCES}" MATCHES "\\.(cc|cpp|cxx)(;|$)")
    set(language CXX)
    set(interface Plumbline::sdk)
  endif()
  list(JOIN PLUGIN_OPTIONS " " options)
  string(STRIP "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${options}" build)
  add_library(${id} MODULE ${PLUGIN_SOURCES})
  target_link_libraries(${id} PRIVATE ${interface})
  # Contraction would make a * b + c depend on the processor, and a canonical product is the same on all.
  target_compile_options(${id} PRIVATE -ffp-contract=off ${PLUGIN_OPTIONS})
  target_compile_definitions(${id} PRIVATE
    PLUMB_PLUGIN_ID="${id}" PLUMB_PLUGIN_VERSION="${PLUGIN_VERSION}"
    PLUMB_PLUGIN_VENDOR="${PLUGIN_VENDOR}" PLUMB_PLUGIN_LICENSE="${PLUGIN_LICENSE}"
    PLUMB_PLUGIN_DESCRIPTION="${PLUGIN_DESCRIPTION}"
    PLUMB_PLUGIN_BUILD="${build}")
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
  set_target_properties(${id} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PLUGIN_OUTPUT_DIRECTORY} LINK_DEPENDS ${map}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(${id} PRIVATE -Wl,--version-script=${map})
  plumbline_write_manifest(${id} ${PLUGIN_OUTPUT_DIRECTORY}/${id}.plugin.json VERSION ${PLUGIN_VERSION}
    VENDOR "${PLUGIN_VENDOR}" LICENSE "${PLUGIN_LICENSE}" DESCRIPTION "${PLUGIN_DESCRIPTION}"
    EXTENSIONS ${PLUGIN_EXTENSIONS})
endfunction()

# plumbline_write_manifest(id file VERSION ... VENDOR ... LICENSE ... DESCRIPTION ... EXTENSIONS ...): what a plugin's
# library says of itself, for a host that lists without loading.
function(plumbline_write_manifest id file)
  cmake_parse_arguments(MANIFEST "" "VERSION;VENDOR;LICENSE;DESCRIPTION" "EXTENSIONS" ${ARGN})
  list(TRANSFORM MANIFEST_EXTENSIONS REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE extensions)
  list(JOIN extensions ", " extensions)
  file(GENERATE OUTPUT ${file} CONTENT
"{\"id\": \"${id}\", \"version\": \"${MANIFEST_VERSION}\", \"abi\": [1, 1], \"extensions\": [${extensions}],
 \"vendor\": \"${MANIFEST_VENDOR}\", \"license\": \"${MANIFEST_LICENSE}\", \"description\": \"${MANIFEST_DESCRIPTION}\"}
")
endfunction()
