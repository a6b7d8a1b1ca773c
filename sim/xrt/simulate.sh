#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Started by XRT in the folder where it has unpacked the xclbin's device process.
unset LD_LIBRARY_PATH
exec ./tidemill-device-process 2>>"${TIDEMILL_EMULATION_LOG:-device-process.log}"
