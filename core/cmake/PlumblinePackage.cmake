# cpack -G DEB, in the build folder: plumbline_VERSION_amd64.deb, of all that `cmake --install` installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_VENDOR Plumbline)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "small language models from exchangeable parts, compared to the bit")
set(CPACK_PACKAGE_DESCRIPTION
"Plumbline runs small language models from parts that are loaded at run time:
kernels, tokenizers, template engines, samplers and loaders, chosen by a
config. Any one part can be exchanged, and two runs compared stage by stage,
down to the first number that differs. The package has the program plumb, its
plugins, and all that authors of plugins need: headers, a CMake package, the
SDKs for Rust and Python, and the templates of plumb plugins new.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Plumbline <plumbline@localhost.localdomain>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, python3, python3-pip")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, cargo-web")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The engine of plumb.wasm comes with it and is found beside it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PLUMB_PLUGIN_DIR}/wasmtime)

# What a Debian package has besides: where its licence is, and how it changed.
set(documents ${CMAKE_INSTALL_DATADIR}/doc/plumbline)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/package/copyright CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Plumbline

Files: *
Copyright: 2026 the authors of Plumbline
License: Apache-2.0

Files: usr/lib/plumbline/wasmtime/*
Copyright: 2019-2026 the authors of Wasmtime
License: Apache-2.0

License: Apache-2.0
 On Debian systems the full text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/package/changelog CONTENT
"plumbline (@PROJECT_VERSION@) unstable; urgency=medium

  * Version @PROJECT_VERSION@.

 -- Plumbline <plumbline@localhost.localdomain>  Thu, 01 Jan 2026 00:00:00 +0000
" @ONLY)
install(CODE "execute_process(COMMAND gzip -9nkf \"${CMAKE_BINARY_DIR}/package/changelog\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${CMAKE_BINARY_DIR}/package/copyright ${CMAKE_BINARY_DIR}/package/changelog.gz DESTINATION ${documents})
install(DIRECTORY core/doc/ DESTINATION ${documents} FILES_MATCHING PATTERN *.md)
install(FILES README.md core/abi/CHANGELOG.md DESTINATION ${documents})
include(CPack)
