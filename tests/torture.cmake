# holdfast-torture lets real processes use a real store while faults befall them. holdfast-torture-planted
# is the same program over the core with deliberate bugs. Like the simulation, both take the objects of the
# components, so that exactly one core is in each.
find_package(nlohmann_json 3.11 REQUIRED)

holdfast_sources(torture_sources torture)
holdfast_sources(torture_tests torture TESTS)

function(holdfast_torture name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORE" "DEFINE")
  get_property(components GLOBAL PROPERTY HOLDFAST_COMPONENTS)
  list(REMOVE_ITEM components holdfast-core)
  get_property(link GLOBAL PROPERTY HOLDFAST_LINK)
  add_executable(${name} ${torture_sources})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINE})
  target_link_libraries(${name} PRIVATE holdfast-test-build holdfast-checker holdfast-test-support
    ${arg_CORE} ${components} ${link} nlohmann_json::nlohmann_json)
  holdfast_precompile_test(${name})
endfunction()

holdfast_torture(holdfast-torture CORE holdfast-core)
if(TARGET holdfast-core-planted)
  holdfast_torture(holdfast-torture-planted
    CORE holdfast-core-planted DEFINE HOLDFAST_PLANTED_BUGS=1)
endif()
