# Plugins in Rust. A room's Cargo.toml pins exact versions; the workspace that joins all packages, its Cargo.lock (which
# names a registry) and everything built lie in the build folder, where links lead to the sources.

set(PLUMB_CARGO_OLDEST 1.85) # that of Debian 12's package cargo-web; the rust-version of each Cargo.toml
set(PLUMB_RUST_WORKSPACE ${PROJECT_BINARY_DIR}/rust)

# plumb_find_rust(problem): why packages in Rust cannot be built, or "". Fetches what they depend on, once.
function(plumb_find_rust problem)
  get_property(is_known GLOBAL PROPERTY PLUMB_RUST_PROBLEM SET)
  if(NOT is_known)
    plumb_prepare_rust(found)
    set_property(GLOBAL PROPERTY PLUMB_RUST_PROBLEM "${found}")
  endif()
  get_property(found GLOBAL PROPERTY PLUMB_RUST_PROBLEM)
  set(${problem} "${found}" PARENT_SCOPE)
endfunction()

function(plumb_prepare_rust problem)
  set(${problem} "" PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING)
    set(${problem} "packages in Rust are built for this machine only" PARENT_SCOPE)
    return()
  endif()
  find_program(PLUMB_CARGO cargo HINTS $ENV{HOME}/.cargo/bin)
  mark_as_advanced(PLUMB_CARGO)
  if(NOT PLUMB_CARGO)
    set(${problem} "cargo (Debian: cargo-web and rustc-web) is missing" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${PLUMB_CARGO} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${version}")
  if(version VERSION_LESS PLUMB_CARGO_OLDEST)
    set(${problem} "cargo is ${version}, at least ${PLUMB_CARGO_OLDEST} expected" PARENT_SCOPE)
    return()
  endif()
  set_property(GLOBAL PROPERTY PLUMB_CARGO_VERSION ${version})
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS plumb_cargo=1) # cargo runs as many compilers as it likes

  set(manifests core/sdk/rust/*/Cargo.toml plugins/*/*/Cargo.toml)
  list(TRANSFORM manifests PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB manifests RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${manifests})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manifests})
  list(TRANSFORM manifests REPLACE "(.+)/Cargo.toml" "\"\\1\"")
  list(JOIN manifests ", " members)
  file(MAKE_DIRECTORY ${PLUMB_RUST_WORKSPACE})
  foreach(folder core plugins)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PLUMB_RUST_WORKSPACE}/${folder} SYMBOLIC)
  endforeach()
  # Resolver 3 chooses versions that the oldest compiler builds.
  file(CONFIGURE OUTPUT ${PLUMB_RUST_WORKSPACE}/Cargo.toml CONTENT
"[workspace]
resolver = \"3\"
members = [@members@]

[profile.release]
lto = \"fat\"
strip = true
" @ONLY)
  # First without a network: all is there but in the first run, and after a change of a manifest.
  foreach(option --offline "")
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env CARGO_NET_RETRY=1 CARGO_HTTP_TIMEOUT=20 ${PLUMB_CARGO} fetch --quiet ${option}
      WORKING_DIRECTORY ${PLUMB_RUST_WORKSPACE} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE message)
    if(status EQUAL 0)
      return()
    endif()
  endforeach()
  string(REGEX REPLACE "\n.*" "" message "${message}")
  set(${problem} "cargo cannot fetch the packages: ${message}" PARENT_SCOPE)
endfunction()

# plumb_rust_plugin(plumb.tokenizers.hf_rust SOURCES src/lib.rs ... EXTENSIONS plumb.tokenizer/1)
# As plumb_plugin, from the Cargo.toml of this folder, whose package is the id with dashes and has the description. Left out where there is no
# Rust; if(TARGET id) asks.
function(plumb_rust_plugin id)
  cmake_parse_arguments(PLUGIN "" "" "SOURCES;EXTENSIONS" ${ARGN})
  plumb_find_rust(problem)
  if(problem)
    message(STATUS "${id} is left out: ${problem}")
    return()
  endif()
  get_property(version GLOBAL PROPERTY PLUMB_CARGO_VERSION)
  string(REGEX REPLACE "[._]" "-" package ${id})
  string(REPLACE "-" "_" library ${package})
  set(library lib${library}${CMAKE_SHARED_LIBRARY_SUFFIX})
  set(made ${PLUMB_PLUGIN_DIR}/${id}.so)
  list(TRANSFORM PLUGIN_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB_RECURSE sdk CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/sdk/rust/*.rs)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} CXX=${CMAKE_CXX_COMPILER}
            "PLUMB_PLUGIN_BUILD=Rust ${version} release"
            ${PLUMB_CARGO} build --quiet --offline --release --package ${package}
    COMMAND ${CMAKE_COMMAND} -E copy target/release/${library} ${made}
    DEPENDS ${PLUGIN_SOURCES} ${sdk} ${CMAKE_CURRENT_SOURCE_DIR}/Cargo.toml ${PLUMB_RUST_WORKSPACE}/Cargo.toml
    WORKING_DIRECTORY ${PLUMB_RUST_WORKSPACE} JOB_POOL plumb_cargo VERBATIM
    COMMENT "Building Rust package ${package}")
  add_custom_target(${id}.build ALL DEPENDS ${made})
  add_library(${id} MODULE IMPORTED GLOBAL)
  set_target_properties(${id} PROPERTIES IMPORTED_LOCATION ${made})
  add_dependencies(${id} ${id}.build)
  file(STRINGS Cargo.toml description REGEX "^description = ")
  string(REGEX REPLACE "^description = \"(.*)\"$" "\\1" description "${description}")
  plumbline_write_manifest(${id} ${PLUMB_PLUGIN_DIR}/${id}.plugin.json VERSION ${PROJECT_VERSION} VENDOR Plumbline
    LICENSE Apache-2.0 DESCRIPTION "${description}" EXTENSIONS ${PLUGIN_EXTENSIONS})
  install(PROGRAMS ${made} DESTINATION lib/plumbline)
  plumb_know_plugin(${id})
endfunction()

# plumb_rust_test(name PACKAGE plumb): the package's own tests are one ctest of tier check. None where there is no Rust.
function(plumb_rust_test name)
  cmake_parse_arguments(TEST "" "PACKAGE" "" ${ARGN})
  plumb_find_rust(problem)
  if(problem)
    return()
  endif()
  add_test(NAME ${name}
    COMMAND ${PLUMB_CARGO} test --quiet --offline --release --package ${TEST_PACKAGE}
    WORKING_DIRECTORY ${PLUMB_RUST_WORKSPACE})
  set_tests_properties(${name} PROPERTIES LABELS check TIMEOUT 900)
endfunction()
