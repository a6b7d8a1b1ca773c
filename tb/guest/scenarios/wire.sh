# SPDX-License-Identifier: Apache-2.0
# The tests of the wire that need queue pairs.
. /scenarios/network.sh
timeout 150 guest_tests --gtest_color=no || bad "guest_tests ended with $?"
exit $fail
