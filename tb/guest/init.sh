#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The guest's init: loads the modules, runs the scenario named on the kernel's command line, tells its result and ends
# the machine.
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module" || echo "insmod $module failed"; done </modules/order
scenario=
for word in $(cat /proc/cmdline); do
  case $word in tidemill.scenario=*) scenario=${word#tidemill.scenario=} ;; esac
done
echo "GUEST: $(uname -r), scenario $scenario, up for $(cut -d' ' -f1 /proc/uptime) s"
sh "/scenarios/$scenario.sh"
result=$?
echo "GUEST: up for $(cut -d' ' -f1 /proc/uptime) s"
if [ $result = 0 ]; then echo "GUEST-RESULT: PASS"; code='\020'; else echo "GUEST-RESULT: FAIL $result"; code='\021'; fi
sleep 0.2
# QEMU's isa-debug-exit: 16 written here is exit status 33, 17 is 35.
printf "$code" | dd of=/dev/port bs=1 seek=244 count=1 conv=notrunc 2>/dev/null
poweroff -f
