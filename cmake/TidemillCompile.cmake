# SPDX-License-Identifier: Apache-2.0
# Warnings and sanitizers for our own targets: tidemill_compile_options(<target>...).

function(tidemill_compile_options)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough
      # Hardware is written without short circuits: & and | of booleans are data, && and || are control flow.
      $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>)
    if(TIDEMILL_SANITIZE)
      target_compile_options(${target} PRIVATE -fsanitize=${TIDEMILL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
      target_link_options(${target} PRIVATE -fsanitize=${TIDEMILL_SANITIZE})
    endif()
  endforeach()
endfunction()

# For a folder of tests that only call what is optimised elsewhere: most of a build is the compiler at work on tests that
# run for milliseconds.
macro(tidemill_compile_quickly)
  add_compile_options($<$<CONFIG:Release>:-O1>)
endmacro()
