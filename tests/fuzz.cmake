# fuzz_replay runs the targets of fuzz/targets as a test; holdfast-fuzz runs one under libFuzzer and
# is there in the preset `fuzz` only, since it needs clang and other flags.
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/targets/*.cpp")
list(APPEND fuzz_sources fuzz/target.cpp fuzz/properties.cpp)

holdfast_test(fuzz_replay LABELS fuzz
  SOURCES ${fuzz_sources} fuzz/mutations.cpp fuzz/replay_test.cpp
  LINK holdfast-cli holdfast-checker holdfast-test-support)
target_compile_definitions(fuzz_replay PRIVATE
  HOLDFAST_FUZZ_CORPUS="${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus")

if(HOLDFAST_SANITIZE MATCHES "fuzzer")
  add_executable(holdfast-fuzz ${fuzz_sources} fuzz/fuzz_main.cpp)
  target_link_libraries(holdfast-fuzz PRIVATE holdfast-cli holdfast-checker holdfast-test-build)
  target_link_options(holdfast-fuzz PRIVATE -fsanitize=fuzzer)
  holdfast_precompile_test(holdfast-fuzz)
endif()
