# What a builder may choose, and the flags that follow from it. The defaults suit a consumer who adds
# Holdfast to a project of their own; CMakePresets.json holds what its developers use.

option(HOLDFAST_TESTS "Build the tests (needs GoogleTest)" OFF)
option(HOLDFAST_WERROR "Treat warnings as errors" OFF)
option(HOLDFAST_PCH "Precompile the standard headers" OFF)
option(HOLDFAST_APPS "Build the program holdfast (needs nlohmann-json)" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_INSTALL "Create the install rules" ${PROJECT_IS_TOP_LEVEL})
set(HOLDFAST_SANITIZE "" CACHE STRING "Value of -fsanitize=, for example address,undefined")
option(HOLDFAST_CCACHE "Compile through ccache where it is installed" OFF)
set(HOLDFAST_SIM_SEEDS 100000 CACHE STRING "Seeds that the simulation test runs")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  endif()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Everything that is compiled in this tree links this; nothing of it reaches a consumer.
add_library(holdfast-build INTERFACE)
target_include_directories(holdfast-build INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(holdfast-build INTERFACE Threads::Threads)
target_compile_options(holdfast-build INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${HOLDFAST_WERROR}>:-Werror>)

# g++ 12 sees an overlapping copy in plain string concatenation (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(holdfast-build INTERFACE -Wno-restrict)
endif()

if(HOLDFAST_SANITIZE)
  target_compile_options(holdfast-build INTERFACE
    -fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(holdfast-build INTERFACE -fsanitize=${HOLDFAST_SANITIZE})
  # GCC's manual: instrumented code makes this warning guess wrong.
  target_compile_options(holdfast-build INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# What was compiled before, in this or another clone, is not compiled again. The settings let precompiled
# headers be cached, and paths below the source tree mean the same wherever the clone lies.
if(HOLDFAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(HOLDFAST_CCACHE_PROGRAM ccache)
  if(HOLDFAST_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "${HOLDFAST_CCACHE_PROGRAM}")
  endif()
endif()

# holdfast_precompile(<target> REUSE <owner> LIKE <interface> [HEADERS <more headers>...])
#
# Precompiled headers are shared: the first target that names <owner> creates it. They fit only code
# with the same flags, so position-independent components and tests have one owner each; LIKE is the
# interface library that both the owner and its users take their flags from.
function(holdfast_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "REUSE;LIKE" "HEADERS")
  if(NOT HOLDFAST_PCH)
    return()
  endif()
  if(NOT TARGET ${arg_REUSE})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${arg_REUSE}.cpp" CONTENT "// empty\n")
    add_library(${arg_REUSE} OBJECT "${PROJECT_BINARY_DIR}/generated/${arg_REUSE}.cpp")
    target_link_libraries(${arg_REUSE} PRIVATE ${arg_LIKE})
    get_target_property(pic ${target} POSITION_INDEPENDENT_CODE)
    if(pic)
      set_target_properties(${arg_REUSE} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    target_precompile_headers(${arg_REUSE} PRIVATE
      "${PROJECT_SOURCE_DIR}/cmake/std_headers.hpp" ${arg_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${arg_REUSE})
endfunction()
