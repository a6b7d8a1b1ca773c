# SPDX-License-Identifier: Apache-2.0
# For the judge: PASS is said, and then the kernel panics before the exit status is written.
echo "GUEST-RESULT: PASS"
echo c >/proc/sysrq-trigger
