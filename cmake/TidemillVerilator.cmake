# SPDX-License-Identifier: Apache-2.0
# tidemill_verilate(target module...): adds the Verilated model V<module> of each cell, assertions on, every warning an error.
# Without Verilator, verilator_FOUND is false (an error where TIDEMILL_CI is set).
find_package(verilator 5.006 QUIET HINTS /usr/share/verilator)
if(NOT verilator_FOUND)
  tidemill_missing("the RTL benches" verilator)
endif()

function(tidemill_verilate target)
  foreach(module ${ARGN})
    verilate(${target} SOURCES ${PROJECT_SOURCE_DIR}/rtl/cells/${module}.sv TOP_MODULE ${module} PREFIX V${module}
      VERILATOR_ARGS --assert -Wall -y ${PROJECT_SOURCE_DIR}/rtl/cells)
  endforeach()
endfunction()
