# SPDX-License-Identifier: Apache-2.0
# RTL of the kernels by whichever HLS tool is on PATH: target hls-rtl, and tests that run this RTL against the C++.
# Nothing of it is built by default and nothing made is committed.

set(TIDEMILL_HLS_FLOW ${PROJECT_SOURCE_DIR}/hls/flow)
set(TIDEMILL_HLS_ARGUMENTS --source ${PROJECT_SOURCE_DIR} --generated ${CMAKE_BINARY_DIR}/generated/include
  --out ${CMAKE_BINARY_DIR}/hls-rtl)

function(tidemill_add_hls_target)
  add_custom_target(hls-rtl
    COMMAND Python3::Interpreter -B ${TIDEMILL_HLS_FLOW}/make_rtl.py ${TIDEMILL_HLS_ARGUMENTS}
    USES_TERMINAL VERBATIM)
  add_dependencies(hls-rtl tidemill_abi_files)
endfunction()

# tidemill_add_hls_tests(<kernel>...): the RTL of each kernel equals the C++ and keeps its declared cycles.
function(tidemill_add_hls_tests)
  foreach(kernel ${ARGN})
    add_test(NAME HlsRtl.${kernel}EqualsTheCppInDeclaredCycles
      COMMAND Python3::Interpreter -B ${TIDEMILL_HLS_FLOW}/replay.py ${TIDEMILL_HLS_ARGUMENTS} --kernel ${kernel})
    set_tests_properties(HlsRtl.${kernel}EqualsTheCppInDeclaredCycles PROPERTIES
      LABELS "engine;build" SKIP_RETURN_CODE 77 TIMEOUT 3600)
  endforeach()
endfunction()
