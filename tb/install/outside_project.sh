#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: outside_project.sh BUILD_DIR WORK_DIR PROJECT COMPILER
set -euo pipefail
build=$1 work=$2 project=$3 compiler=$4
rm -rf "$work"
cmake --install "$build" --prefix "$work/usr" >/dev/null
cmake -S "$project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/usr" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/outside"
PKG_CONFIG_PATH=$(dirname "$(find "$work/usr" -name tidemill.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --static --cflags --libs tidemill)"
"$compiler" -std=c++20 "$project/main.cpp" -o "$work/by_pkg_config" "${flags[@]}"
"$work/by_pkg_config"
"$work/usr/bin/tidemill" --help >/dev/null
