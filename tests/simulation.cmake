# holdfast-sim runs the engine through random schedules; holdfast-sim-planted is the same program
# over a core with deliberate bugs, and must find each of them.
if(NOT HOLDFAST_SANITIZE)   # sanitizers have nothing to say about bugs that were put in by hand
  holdfast_objects(holdfast-core-planted "${PROJECT_SOURCE_DIR}/src/core"
    DEFINE HOLDFAST_PLANTED_BUGS=1)
endif()

holdfast_sources(sim_sources sim)
holdfast_sources(sim_tests sim TESTS)
if(NOT sim_sources)
  return()
endif()

list(FILTER sim_sources EXCLUDE REGEX "/main\\.cpp$")
set(sim_main "${CMAKE_CURRENT_SOURCE_DIR}/sim/main.cpp")
holdfast_test_parts(holdfast-sim-parts SOURCES ${sim_sources} LINK holdfast-checker)
holdfast_test_program(holdfast-sim SOURCES ${sim_main} LINK holdfast-sim-parts holdfast-checker
  CORE holdfast-core)
# Two halves of one thread each, so that ctest -j spreads them and the planted bugs over the cores.
math(EXPR half "${HOLDFAST_SIM_SEEDS} / 2")
math(EXPR second "${half} + 1")
math(EXPR rest "${HOLDFAST_SIM_SEEDS} - ${half}")
add_test(NAME sim.seeds.first
  COMMAND holdfast-sim --seeds ${half} --jobs 1)
add_test(NAME sim.seeds.second
  COMMAND holdfast-sim --first-seed ${second} --seeds ${rest} --jobs 1)
set_tests_properties(sim.seeds.first sim.seeds.second
  PROPERTIES LABELS sim TIMEOUT 3600 COST 1000)

if(TARGET holdfast-core-planted)
  holdfast_test_program(holdfast-sim-planted SOURCES ${sim_main} ${sim_sources} LINK holdfast-checker
    CORE holdfast-core-planted DEFINE HOLDFAST_PLANTED_BUGS=1)
  add_test(NAME sim.planted COMMAND holdfast-sim-planted --all)
  set_tests_properties(sim.planted PROPERTIES LABELS sim TIMEOUT 3600 COST 950)
  # A violating schedule is made small and still violates the same rule: two callers are enough.
  add_test(NAME sim.minimise
    COMMAND holdfast-sim-planted --bug lease_from_answer --seed 39 --minimise)
  set_tests_properties(sim.minimise PROPERTIES LABELS sim TIMEOUT 600 PASS_REGULAR_EXPRESSION
    "C1 exclusion is violated by seed 39: 2 of [0-9]+ operations and [01] of .*C1 exclusion: examined 2, violated 1")
endif()

if(sim_tests)
  holdfast_test(sim_tests LABELS sim
    SOURCES ${sim_tests}
    LINK holdfast-sim-parts holdfast-checker holdfast-test-support holdfast::holdfast)
endif()
