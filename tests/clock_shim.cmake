# The clock shim (support/clock_shim) is loaded into programs that are not ours, so it has none of the
# flags of this tree: no sanitizer, and nothing of the C++ library.
add_library(holdfast-clock-shim MODULE support/clock_shim/preload/shim.cpp)
target_link_options(holdfast-clock-shim PRIVATE -Wl,--as-needed)
add_executable(clock_teller support/clock_shim/teller/clock_teller.cpp)
set_target_properties(clock_teller PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
foreach(target holdfast-clock-shim clock_teller)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow)
endforeach()

add_dependencies(holdfast-test-support holdfast-clock-shim)
target_compile_definitions(holdfast-test-support PRIVATE
  HOLDFAST_CLOCK_SHIM="$<TARGET_FILE:holdfast-clock-shim>")
