# Components are folders of src/ compiled as OBJECT libraries; together they are the one library.
#
#   holdfast_component(<name> [DEPENDS <component>...] [LINK ...] [PACKAGE ...] [PKGCONFIG ...])
#                                                         src/<name>        -> holdfast-<name>
#   holdfast_store(<name> [LINK ...] [PACKAGE ...] [PKGCONFIG ...])
#                                                         src/store/<name>  -> holdfast-store-<name>
#   holdfast_check_store_lists()                          folders, lines and conformance list agree
#   holdfast_library()                                    all of it         -> holdfast::holdfast
#
# DEPENDS hands on include folders and flags of a lower layer. What may include what is checked by
# tools/check-layers. LINK: targets of a foreign library. PACKAGE: what a consumer of the static library
# must find_package() for them. PKGCONFIG: the same for pkg-config.

define_property(GLOBAL PROPERTY HOLDFAST_COMPONENTS BRIEF_DOCS "Targets of all components")
define_property(GLOBAL PROPERTY HOLDFAST_STORES BRIEF_DOCS "Names of all stores")
define_property(GLOBAL PROPERTY HOLDFAST_LINK BRIEF_DOCS "Foreign libraries of all components")
define_property(GLOBAL PROPERTY HOLDFAST_PACKAGES BRIEF_DOCS "CMake packages behind HOLDFAST_LINK")
define_property(GLOBAL PROPERTY HOLDFAST_PKGCONFIG BRIEF_DOCS "pkg-config modules behind HOLDFAST_LINK")
foreach(list COMPONENTS STORES LINK PACKAGES PKGCONFIG)
  set_property(GLOBAL PROPERTY HOLDFAST_${list} "")
endforeach()

function(holdfast_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;PACKAGE;PKGCONFIG")
  list(TRANSFORM arg_DEPENDS PREPEND "holdfast-")
  holdfast_foreign("${arg_LINK}" "${arg_PACKAGE}" "${arg_PKGCONFIG}")
  holdfast_objects(holdfast-${name} "${PROJECT_SOURCE_DIR}/src/${name}"
    LINK ${arg_DEPENDS} ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_COMPONENTS holdfast-${name})
endfunction()

function(holdfast_store name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;PACKAGE;PKGCONFIG")
  holdfast_foreign("${arg_LINK}" "${arg_PACKAGE}" "${arg_PKGCONFIG}")
  holdfast_objects(holdfast-store-${name} "${PROJECT_SOURCE_DIR}/src/store/${name}"
    LINK holdfast-rules holdfast-transport ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_COMPONENTS holdfast-store-${name})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_STORES ${name})
endfunction()

# Finds foreign libraries, and notes them for whoever links and installs.
function(holdfast_foreign link packages pkgconfig)
  foreach(package IN LISTS packages)
    find_package(${package} REQUIRED GLOBAL)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_LINK ${link})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_PACKAGES ${packages})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_PKGCONFIG ${pkgconfig})
endfunction()

# holdfast_objects(<target> <folder> [LINK <target>...] [DEFINE <macro>...])
# A folder that has no .cpp yet becomes an INTERFACE library, so that the rest need not care.
function(holdfast_objects target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LINK;DEFINE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE holdfast-build ${arg_LINK})
    return()
  endif()
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PUBLIC holdfast-build ${arg_LINK})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINE})
  holdfast_precompile(${target} REUSE holdfast-pch LIKE holdfast-build)
endfunction()

function(holdfast_library)
  get_property(stores GLOBAL PROPERTY HOLDFAST_STORES)
  holdfast_generate_store_registry(${stores})

  add_library(holdfast)
  add_library(holdfast::holdfast ALIAS holdfast)
  get_property(components GLOBAL PROPERTY HOLDFAST_COMPONENTS)
  foreach(component IN LISTS components)
    get_target_property(type ${component} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      target_sources(holdfast PRIVATE $<TARGET_OBJECTS:${component}>)
    endif()
  endforeach()
  get_property(link GLOBAL PROPERTY HOLDFAST_LINK)
  target_link_libraries(holdfast PUBLIC Threads::Threads
    PRIVATE $<BUILD_INTERFACE:holdfast-build> ${link})
  target_include_directories(holdfast PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_compile_features(holdfast PUBLIC cxx_std_20)
  set_target_properties(holdfast PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# Writes the list that src/api/store_registry.hpp declares. The library refers to each store by this
# list only, so a store in a static library is never dropped by the linker.
function(holdfast_generate_store_registry)
  set(declarations "")
  set(addresses "")
  foreach(store IN LISTS ARGN)
    string(APPEND declarations "extern const StoreFactory k_${store}_factory;\n")
    string(APPEND addresses "    &k_${store}_factory,\n")
  endforeach()
  list(LENGTH ARGN count)
  set(registry "${PROJECT_BINARY_DIR}/generated/store_registry.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/store_registry.cpp.in" "${registry}" @ONLY)
  add_library(holdfast-registry OBJECT "${registry}")
  set_target_properties(holdfast-registry PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(holdfast-registry PUBLIC holdfast-build)
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_COMPONENTS holdfast-registry)
endfunction()

# A store that the conformance suite does not know must not exist, nor one that is not built.
function(holdfast_check_store_lists)
  set(root "${PROJECT_SOURCE_DIR}/src/store")
  set(folders "")
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE "${root}" "${root}/*")
  foreach(entry IN LISTS entries)
    if(IS_DIRECTORY "${root}/${entry}")
      list(APPEND folders "${entry}")
    endif()
  endforeach()

  get_property(lines GLOBAL PROPERTY HOLDFAST_STORES)
  holdfast_check_same("${folders}" "${lines}"
    "the folder src/store/@" "the line holdfast_store(@) in src/store/CMakeLists.txt")

  set(conformance "${PROJECT_SOURCE_DIR}/tests/conformance/stores.list")
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/tests")   # a source package may leave the tests out
    set(listed "")
    if(EXISTS "${conformance}")
      set_property(DIRECTORY "${PROJECT_SOURCE_DIR}"
        APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${conformance}")
      file(STRINGS "${conformance}" listed REGEX "^[a-z]")
    endif()
    holdfast_check_same("${folders}" "${listed}"
      "the folder src/store/@" "the line \"@\" in tests/conformance/stores.list")
  endif()
endfunction()

function(holdfast_check_same left right left_is right_is)
  foreach(side left right)
    if(side STREQUAL "left")
      set(have "${left}")
      set(other "${right}")
      set(have_is "${left_is}")
      set(other_is "${right_is}")
    else()
      set(have "${right}")
      set(other "${left}")
      set(have_is "${right_is}")
      set(other_is "${left_is}")
    endif()
    foreach(name IN LISTS have)
      if(NOT name IN_LIST other)
        string(REPLACE "@" "${name}" there "${have_is}")
        string(REPLACE "@" "${name}" missing "${other_is}")
        message(FATAL_ERROR "Store '${name}': there is ${there}, but not ${missing}.")
      endif()
    endforeach()
  endforeach()
endfunction()
