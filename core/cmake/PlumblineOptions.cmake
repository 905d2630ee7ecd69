# Compiler options of every target of this project (never of a consumer).
option(PLUMB_WARNINGS_AS_ERRORS "Treat warnings as errors (set by the presets)" OFF)
set(PLUMB_SANITIZE "" CACHE STRING "Sanitizers for every target, for example address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(plumb_options INTERFACE)
# Contraction would make a*b+c depend on the processor: core/doc/numerics.md.
target_compile_options(plumb_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off)
# GCC 12 sees overlapping copies in inlined std::string operator+ (its bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(plumb_options INTERFACE -Wno-restrict)
endif()
if(PLUMB_WARNINGS_AS_ERRORS)
  target_compile_options(plumb_options INTERFACE -Werror)
endif()
if(PLUMB_SANITIZE)
  target_compile_options(plumb_options INTERFACE -fsanitize=${PLUMB_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_link_options(plumb_options INTERFACE -fsanitize=${PLUMB_SANITIZE})
endif()

set(PLUMB_BIN_DIR ${CMAKE_BINARY_DIR}/bin)
set(PLUMB_PLUGIN_DIR ${CMAKE_BINARY_DIR}/lib/plumbline)
