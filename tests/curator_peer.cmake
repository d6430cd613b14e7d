# The Java peer of ZooKeeper's tests and bench. holdfast_curator_peer(<target>) tells a program where it is, or why
# it is not there; its tests are then skipped.
find_program(HOLDFAST_JAVAC javac)
find_file(HOLDFAST_CURATOR_JAR curator-recipes.jar PATHS /usr/share/java NO_CMAKE_FIND_ROOT_PATH)
find_file(HOLDFAST_SLF4J_NOP_JAR slf4j-nop.jar PATHS /usr/share/java NO_CMAKE_FIND_ROOT_PATH)

set(curator_peer_missing "")
if(NOT HOLDFAST_JAVAC)
  set(curator_peer_missing "javac")
elseif(NOT HOLDFAST_CURATOR_JAR OR NOT HOLDFAST_SLF4J_NOP_JAR)
  set(curator_peer_missing "curator-recipes.jar and slf4j-nop.jar in /usr/share/java")
endif()

if(curator_peer_missing)
  message(STATUS "No ${curator_peer_missing}: tests of ZooKeeper beside Curator will be skipped")
else()
  set(curator_peer_source "${CMAKE_CURRENT_SOURCE_DIR}/integration/zookeeper/peer/CuratorPeer.java")
  set(curator_peer_classes "${CMAKE_CURRENT_BINARY_DIR}/curator_peer")
  set(curator_peer_path "${HOLDFAST_CURATOR_JAR}:${HOLDFAST_SLF4J_NOP_JAR}")   # they name what else they need
  add_custom_command(OUTPUT "${curator_peer_classes}/CuratorPeer.class"
    COMMAND "${HOLDFAST_JAVAC}" -nowarn -proc:none -d "${curator_peer_classes}"
      -cp "${curator_peer_path}" "${curator_peer_source}"
    DEPENDS "${curator_peer_source}" COMMENT "Compiling CuratorPeer.java" VERBATIM)
  add_custom_target(curator_peer DEPENDS "${curator_peer_classes}/CuratorPeer.class")
endif()

function(holdfast_curator_peer target)
  if(TARGET curator_peer)
    add_dependencies(${target} curator_peer)
    target_compile_definitions(${target} PRIVATE
      HOLDFAST_CURATOR_PEER="${curator_peer_classes}:${curator_peer_path}")
  else()
    target_compile_definitions(${target} PRIVATE
      HOLDFAST_CURATOR_PEER_MISSING="${curator_peer_missing}")
  endif()
endfunction()
