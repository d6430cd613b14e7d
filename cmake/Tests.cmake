# How tests are made. tests/CMakeLists.txt says which there are.
#
#   holdfast_test(<name> SOURCES <file>... LINK <target>... [LABELS <label>...] [TOGETHER <word>...])
#                                                    TOGETHER: tests of these parameters, each word's in one process
#                                                    instead of one each: what they start costs more than they do
#   holdfast_test_library(<target> <folder>)
#   holdfast_test_parts(<target> SOURCES <file>... [LINK <target>...])   objects that several of these share
#   holdfast_test_program(<name> SOURCES <file>... CORE <target> [LINK <target>...] [DEFINE <macro>...])
#   holdfast_sources(<variable> <folder> [TESTS])    TESTS: only *_test.cpp; otherwise all others, but
#                                                    those that become something else (clock_shim.cmake)
#
# A call with no sources does nothing, so a folder may be there before its first test.
find_package(GTest REQUIRED)
include(GoogleTest)

# For the code of the tests themselves: they say #include "support/…", "checker/…", "sim/…".
add_library(holdfast-test-build INTERFACE)
target_link_libraries(holdfast-test-build INTERFACE holdfast-build GTest::gmock GTest::gtest)
target_include_directories(holdfast-test-build INTERFACE "${PROJECT_SOURCE_DIR}/tests")
# It is the library that is looked at for undefined behaviour; in the tests this costs g++ a third of its time.
if(HOLDFAST_SANITIZE MATCHES "undefined" AND NOT HOLDFAST_SANITIZE MATCHES "fuzzer")
  target_compile_options(holdfast-test-build INTERFACE -fno-sanitize=undefined)
endif()

function(holdfast_sources variable folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "TESTS" "" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  if(arg_TESTS)
    list(FILTER sources INCLUDE REGEX "_test\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/clock_shim/(preload|teller)/")
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

function(holdfast_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;LABELS;TOGETHER")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE
    ${arg_LINK} holdfast-test-build GTest::gtest_main)
  holdfast_precompile_test(${name})
  set(apart "-")
  foreach(word IN LISTS arg_TOGETHER)
    string(APPEND apart "*/${word}:")
    add_test(NAME ${name}.${word} COMMAND ${name} "--gtest_filter=*/${word}" --gtest_brief=1)
    set_tests_properties(${name}.${word} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 1800 COST 500)
  endforeach()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_FILTER "${apart}"
    TEST_LIST ${name}_found PROPERTIES TIMEOUT 900)

  # gtest_discover_tests() cannot hand on a list, so the labels are set once the tests are known.
  set(labels "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
  file(CONFIGURE OUTPUT "${labels}" @ONLY CONTENT [[
foreach(test IN LISTS @name@_found)
  set_tests_properties("${test}" PROPERTIES LABELS "@arg_LABELS@")
endforeach()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
endfunction()

# As they are compiled once, no macro that differs between programs may matter to them.
function(holdfast_test_parts target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${target} OBJECT ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC holdfast-test-build ${arg_LINK})
  holdfast_precompile_test(${target})
endfunction()

# A program of its own. It takes the objects of the components rather than the library, so that exactly one
# core is in it: the library's, or the one with deliberate bugs.
function(holdfast_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORE" "SOURCES;LINK;DEFINE")
  get_property(components GLOBAL PROPERTY HOLDFAST_COMPONENTS)
  list(REMOVE_ITEM components holdfast-core)
  get_property(link GLOBAL PROPERTY HOLDFAST_LINK)
  add_executable(${name} ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINE})
  target_link_libraries(${name} PRIVATE holdfast-test-build
    ${arg_LINK} ${arg_CORE} ${components} ${link})
  holdfast_precompile_test(${name})
endfunction()

# The library under test is not linked in here: the executable chooses which one it takes.
function(holdfast_test_library target folder)
  holdfast_sources(sources ${folder})
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC holdfast-test-build)
    holdfast_precompile_test(${target})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE holdfast-test-build)
  endif()
endfunction()

function(holdfast_precompile_test target)
  holdfast_precompile(${target} REUSE holdfast-test-pch LIKE holdfast-test-build
    HEADERS <gmock/gmock.h> <gtest/gtest.h>)
endfunction()
