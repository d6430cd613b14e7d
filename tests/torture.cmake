# holdfast-torture lets real processes use a real store while faults befall them. holdfast-torture-planted
# is the same program over the core with deliberate bugs.
find_package(nlohmann_json 3.11 REQUIRED)

holdfast_sources(torture_sources torture)
holdfast_sources(torture_tests torture TESTS)
set(torture_link holdfast-checker holdfast-test-support nlohmann_json::nlohmann_json)
set(torture_main "${CMAKE_CURRENT_SOURCE_DIR}/torture/main.cpp")
set(torture_bugs "${CMAKE_CURRENT_SOURCE_DIR}/torture/bugs.cpp")   # says which there are
list(REMOVE_ITEM torture_sources "${torture_main}" "${torture_bugs}")
holdfast_test_parts(holdfast-torture-parts SOURCES ${torture_sources} LINK ${torture_link})

holdfast_test_program(holdfast-torture SOURCES ${torture_main} ${torture_bugs}
  LINK holdfast-torture-parts ${torture_link} CORE holdfast-core)
if(TARGET holdfast-core-planted)
  holdfast_test_program(holdfast-torture-planted SOURCES ${torture_main} ${torture_bugs}
    LINK holdfast-torture-parts ${torture_link}
    CORE holdfast-core-planted DEFINE HOLDFAST_PLANTED_BUGS=1)
endif()

# A short run on each store. A rule of which it examined nothing is as bad as one that is broken. Sanitizers
# make everything slower, and the leases longer.
set(torture_size --ops 300 --faults 24)
if(HOLDFAST_SANITIZE)
  set(torture_size --ops 120 --faults 12 --lease 1500)
endif()
function(holdfast_torture_run name url)
  add_test(NAME torture.${name} COMMAND holdfast-torture --store ${url} --seed 1 ${torture_size})
  set_tests_properties(torture.${name} PROPERTIES LABELS torture TIMEOUT 900 COST 100
    FAIL_REGULAR_EXPRESSION "C[1-7] [a-z ]+0 +0 +0")
endfunction()
holdfast_torture_run(sqlite "sqlite:{}/locks.db")
holdfast_torture_run(dir "dir:{}")
holdfast_torture_run(memory "memory:")
holdfast_torture_run(redis "redis://{}")
holdfast_torture_run(zookeeper "zk://{}/torture")
holdfast_torture_run(zookeeper_ensemble "zk://{},{},{}/torture")

# What is broken on purpose is found: by our own worker, and in the engine.
function(holdfast_torture_bites program bug rule)
  add_test(NAME torture.bites.${bug} COMMAND ${program} --seed 1 --ops 600 --faults 40 --bug ${bug})
  set_tests_properties(torture.bites.${bug} PROPERTIES LABELS torture TIMEOUT 900 COST 100
    PASS_REGULAR_EXPRESSION "${rule} [a-z ]+[0-9]+ +[1-9]")
endfunction()
if(TARGET holdfast-torture-planted)
  holdfast_torture_bites(holdfast-torture ignore_lost C1)
  holdfast_torture_bites(holdfast-torture ignore_fences C4)
  holdfast_torture_bites(holdfast-torture forget_release C7)
  holdfast_torture_bites(holdfast-torture-planted permits_take_one C1)
  holdfast_torture_bites(holdfast-torture-planted renew_after_release C9)
endif()

holdfast_test(torture_tests LABELS torture
  SOURCES ${torture_tests} ${torture_bugs}
  LINK holdfast-torture-parts ${torture_link} holdfast::holdfast)
