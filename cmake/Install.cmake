# The package: find_package(holdfast), pkg-config holdfast, headers. Both descriptions find their
# prefix from where they lie, so an installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(holdfast_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")

install(TARGETS holdfast EXPORT holdfast
  RUNTIME COMPONENT holdfast-runtime
  LIBRARY COMPONENT holdfast-runtime NAMELINK_COMPONENT holdfast-dev
  ARCHIVE COMPONENT holdfast-dev
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/holdfast"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT holdfast-dev
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT holdfast NAMESPACE holdfast:: FILE holdfastTargets.cmake
  DESTINATION "${holdfast_cmake_dir}" COMPONENT holdfast-dev)

if(HOLDFAST_APPS)
  if(BUILD_SHARED_LIBS)
    set_target_properties(holdfast-program PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
  install(TARGETS holdfast-program RUNTIME COMPONENT holdfast-runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/docs/man/holdfast.1"
    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT holdfast-runtime)
  # bash looks for a file that is called as the command.
  install(FILES "${PROJECT_SOURCE_DIR}/apps/cli/completion/holdfast.bash" RENAME holdfast
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT holdfast-runtime)
endif()

get_property(holdfast_stores GLOBAL PROPERTY HOLDFAST_STORES)
get_property(holdfast_packages GLOBAL PROPERTY HOLDFAST_PACKAGES)
get_property(holdfast_pkgconfig GLOBAL PROPERTY HOLDFAST_PKGCONFIG)
# A static library leaves linking the foreign libraries to its user.
list(REMOVE_DUPLICATES holdfast_packages)
set(holdfast_find_dependencies "")
get_target_property(type holdfast TYPE)
if(type STREQUAL "STATIC_LIBRARY")
  foreach(package IN LISTS holdfast_packages)
    string(APPEND holdfast_find_dependencies "find_dependency(${package})\n")
  endforeach()
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/holdfastConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/holdfastConfig.cmake"
  INSTALL_DESTINATION "${holdfast_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/holdfastConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)   # while the major version is 0
install(FILES
  "${PROJECT_BINARY_DIR}/generated/holdfastConfig.cmake"
  "${PROJECT_BINARY_DIR}/generated/holdfastConfigVersion.cmake"
  DESTINATION "${holdfast_cmake_dir}" COMPONENT holdfast-dev)

# "lib/pkgconfig" is two folders below the prefix, "lib/<triplet>/pkgconfig" three.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(holdfast_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(holdfast_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(holdfast_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(holdfast_pc_prefix "\${pcfiledir}/${up}")
  set(holdfast_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(holdfast_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(REMOVE_DUPLICATES holdfast_pkgconfig)
list(JOIN holdfast_pkgconfig ", " holdfast_pc_requires_private)
configure_file("${PROJECT_SOURCE_DIR}/cmake/holdfast.pc.in"
  "${PROJECT_BINARY_DIR}/generated/holdfast.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/holdfast.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT holdfast-dev)
