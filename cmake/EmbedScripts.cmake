# Scripts as parts of the library: files that lie beside the code and are compiled into it.
#
#   holdfast_embed_scripts(<target> <folder> HEADER <header> NAMESPACE <namespace> SCRIPTS <name>...)
#
# <folder>/<name>.lua becomes `const Script k_<name>_script{name, sha1, text};` in the namespace; <header>, as
# one would include it, declares Script and these. A line `--#include other.lua` is replaced by that file of
# the folder, the first time it is met.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
endif()
set(HOLDFAST_EMBED_SCRIPTS "${CMAKE_CURRENT_LIST_FILE}")

function(holdfast_embed_scripts target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER;NAMESPACE" "SCRIPTS")
  file(GLOB parts CONFIGURE_DEPENDS "${folder}/*.lua")
  set(out "${PROJECT_BINARY_DIR}/generated/${target}-scripts.cpp")
  list(JOIN arg_SCRIPTS "," scripts)
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${folder}" "-DOUT=${out}" "-DHEADER=${arg_HEADER}"
      "-DNAMESPACE=${arg_NAMESPACE}" "-DSCRIPTS=${scripts}" -P "${HOLDFAST_EMBED_SCRIPTS}"
    DEPENDS ${parts} "${HOLDFAST_EMBED_SCRIPTS}"
    COMMENT "Embedding the scripts of ${target}" VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()

# The text of a script with all that it includes.
function(read_script file result)
  get_property(met GLOBAL PROPERTY MET)
  if(file IN_LIST met)
    set(${result} "" PARENT_SCOPE)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY MET "${file}")
  file(READ "${FOLDER}/${file}" text)
  while(text MATCHES "--#include ([a-z_]+\\.lua)\n")
    set(line "${CMAKE_MATCH_0}")
    read_script("${CMAKE_MATCH_1}" included)
    string(REPLACE "${line}" "${included}" text "${text}")
  endwhile()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(code "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
  string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
  foreach(script IN LISTS SCRIPTS)
    set_property(GLOBAL PROPERTY MET "")
    read_script("${script}.lua" text)
    string(SHA1 sha1 "${text}")
    string(APPEND code "\nconst Script k_${script}_script{\"${script}\", \"${sha1}\", R\"lua(${text})lua\"};\n")
  endforeach()
  file(WRITE "${OUT}" "${code}\n}  // namespace ${NAMESPACE}\n")
endif()
