# SPDX-License-Identifier: Apache-2.0
# The card build: target xclbin makes the xclbin of TIDEMILL_PLATFORM with Vitis, xclbin-dry-run prints how. Nothing of it
# is built by default. docs/rtl/alveo.md
set(TIDEMILL_PLATFORM "" CACHE STRING "Alveo platform the target xclbin is for, as in rtl/alveo/platforms.toml")

function(tidemill_add_xclbin_targets)
  set(build Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/rtl/alveo/build_xclbin.py --source ${PROJECT_SOURCE_DIR}
    --generated ${CMAKE_BINARY_DIR}/generated --out ${CMAKE_BINARY_DIR}/xclbin)
  set(shown ${TIDEMILL_PLATFORM})
  if(NOT shown)
    set(shown xilinx_u55c_gen3x16_xdma_3_202210_1)
  endif()
  add_custom_target(xclbin COMMAND ${build} "--platform=${TIDEMILL_PLATFORM}" USES_TERMINAL VERBATIM)
  add_custom_target(xclbin-dry-run COMMAND ${build} --platform=${shown} --dry-run USES_TERMINAL VERBATIM)
  add_dependencies(xclbin tidemill_abi_files)
  add_dependencies(xclbin-dry-run tidemill_abi_files)
endfunction()
