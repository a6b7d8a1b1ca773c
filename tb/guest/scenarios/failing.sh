# SPDX-License-Identifier: Apache-2.0
# For the judge: a scenario that fails.
exit 3
