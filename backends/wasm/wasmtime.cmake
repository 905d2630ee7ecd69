# plumb_find_wasmtime(): the target plumb_wasmtime and wasmtime_library (its path), from the engine's own packages: the
# library out of the Python package, the headers out of the Rust package of the same version. Both are fetched into the
# build folder by their package clients, once. wasmtime_problem says what is missing, and is empty if nothing is.
set(wasmtime_version 50.0.1)

function(plumb_fetch_wasmtime_library folder)
  set(wasmtime_problem "" PARENT_SCOPE)
  if(EXISTS ${folder}/libwasmtime.so)
    return()
  endif()
  find_program(PLUMB_PYTHON python3)
  mark_as_advanced(PLUMB_PYTHON)
  if(NOT PLUMB_PYTHON)
    set(wasmtime_problem "python3 is missing" PARENT_SCOPE)
    return()
  endif()
  file(MAKE_DIRECTORY ${folder}/download)
  execute_process(
    COMMAND ${PLUMB_PYTHON} -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 20 --no-deps
            --only-binary :all: --dest ${folder}/download wasmtime==${wasmtime_version}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  file(GLOB package ${folder}/download/wasmtime-${wasmtime_version}-*.whl)
  if(NOT status EQUAL 0 OR NOT package)
    set(wasmtime_problem "pip cannot download wasmtime ${wasmtime_version}" PARENT_SCOPE)
    return()
  endif()
  file(ARCHIVE_EXTRACT INPUT ${package} DESTINATION ${folder}/package PATTERNS *_libwasmtime.so)
  file(GLOB_RECURSE library ${folder}/package/*_libwasmtime.so)
  if(NOT library)
    set(wasmtime_problem "the package ${package} has no library for this system" PARENT_SCOPE)
    return()
  endif()
  file(RENAME ${library} ${folder}/libwasmtime.so)
  file(REMOVE_RECURSE ${folder}/download ${folder}/package)
endfunction()

function(plumb_fetch_wasmtime_headers folder)
  set(wasmtime_problem "" PARENT_SCOPE)
  if(EXISTS ${folder}/include/wasmtime/conf.h)
    return()
  endif()
  find_program(PLUMB_CARGO cargo HINTS $ENV{HOME}/.cargo/bin)
  mark_as_advanced(PLUMB_CARGO)
  if(NOT PLUMB_CARGO)
    set(wasmtime_problem "cargo is missing" PARENT_SCOPE)
    return()
  endif()
  # A package that asks for the other one: cargo fetches what a package asks for.
  file(WRITE ${folder}/headers/src/lib.rs "")
  file(WRITE ${folder}/headers/Cargo.toml
    "[package]\nname = \"headers\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\n"
    "wasmtime-c-api-impl = { version = \"=${wasmtime_version}\", default-features = false }\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env CARGO_NET_RETRY=1 CARGO_HTTP_TIMEOUT=20
            ${PLUMB_CARGO} metadata --quiet --format-version 1 --manifest-path ${folder}/headers/Cargo.toml
    RESULT_VARIABLE status OUTPUT_VARIABLE metadata ERROR_QUIET)
  if(NOT status EQUAL 0 OR
     NOT metadata MATCHES "\"manifest_path\":\"([^\"]*/wasmtime-c-api-impl-${wasmtime_version})/Cargo.toml\"")
    set(wasmtime_problem "cargo cannot fetch wasmtime-c-api-impl ${wasmtime_version}" PARENT_SCOPE)
    return()
  endif()
  set(source ${CMAKE_MATCH_1})
  file(COPY ${source}/include/ DESTINATION ${folder}/include PATTERN *.h)
  # The library of the Python package is built with every feature that the template asks about.
  file(READ ${source}/include/wasmtime/conf.h.in conf)
  string(REPLACE "#cmakedefine" "#define" conf "${conf}")
  file(WRITE ${folder}/include/wasmtime/conf.h "${conf}")
  file(REMOVE_RECURSE ${folder}/headers)
endfunction()

function(plumb_find_wasmtime)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/wasmtime-${wasmtime_version})
  plumb_fetch_wasmtime_library(${folder})
  if(NOT wasmtime_problem)
    plumb_fetch_wasmtime_headers(${folder})
  endif()
  set(wasmtime_problem ${wasmtime_problem} PARENT_SCOPE)
  if(wasmtime_problem)
    return()
  endif()
  set(wasmtime_library ${folder}/libwasmtime.so PARENT_SCOPE)
  add_library(plumb_wasmtime SHARED IMPORTED)
  set_target_properties(plumb_wasmtime PROPERTIES
    IMPORTED_LOCATION ${folder}/libwasmtime.so IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES ${folder}/include)
endfunction()
