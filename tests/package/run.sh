#!/usr/bin/env bash
# One step of the package test; CMakeLists.txt sets the variables.
set -euo pipefail
: "${SOURCE:?}" "${BUILD:?}" "${SCRATCH:?}" "${CMAKE:?}" "${GENERATOR:?}" "${CXX:?}" "${VERSION:?}"

prefix=$SCRATCH/prefix
consumer=$SOURCE/tests/package/consumer
strict=(-Wall -Wextra -Wpedantic -Werror)

case $1 in
  install)
    rm -rf "$SCRATCH"
    env -u DESTDIR "$CMAKE" --install "$BUILD" --prefix "$prefix"
    # Nothing installed may remember where it was built.
    if grep -rIlF -e "$SOURCE" -e "$BUILD" "$prefix"; then
      echo 'FAILED: the files above name the source or build folder'
      exit 1
    fi
    ;;

  cmake)
    "$CMAKE" -G "$GENERATOR" -S "$consumer" -B "$SCRATCH/cmake" \
      -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="${strict[*]}" \
      -DCMAKE_PREFIX_PATH="$prefix" -DHOLDFAST_VERSION="$VERSION"
    "$CMAKE" --build "$SCRATCH/cmake"
    "$SCRATCH/cmake/consumer"
    ;;

  pkgconfig)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name holdfast.pc)")
    export PKG_CONFIG_PATH
    pkg-config --exact-version="$VERSION" holdfast
    read -ra cflags < <(pkg-config --cflags holdfast)
    read -ra libs < <(pkg-config --static --libs holdfast)
    "$CXX" -std=c++20 "${strict[@]}" "${cflags[@]}" "$consumer/main.cpp" "${libs[@]}" \
      -o "$SCRATCH/pkgconfig-consumer"
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir holdfast) "$SCRATCH/pkgconfig-consumer"
    ;;

  subdirectory)
    # Configured only: the sources were compiled by the build under test.
    "$CMAKE" -G "$GENERATOR" -S "$consumer" -B "$SCRATCH-subdirectory" --fresh \
      -DCMAKE_CXX_COMPILER="$CXX" -DHOLDFAST_SOURCE="$SOURCE"
    ;;

  *)
    echo "run.sh: no step '$1'" >&2
    exit 2
    ;;
esac
