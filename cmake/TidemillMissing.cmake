# SPDX-License-Identifier: Apache-2.0
# tidemill_missing(<what is not built> <Debian package>...): says so aloud; where TIDEMILL_CI is set it is an error, for
# there everything is installed.
function(tidemill_missing part)
  list(JOIN ARGN " " packages)
  set(level WARNING)
  if(DEFINED ENV{TIDEMILL_CI})
    set(level FATAL_ERROR)
  endif()
  message(${level} "SKIPPED: ${part}, which needs what Debian has in: ${packages}")
endfunction()
