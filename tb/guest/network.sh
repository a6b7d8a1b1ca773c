# SPDX-License-Identifier: Apache-2.0
# Two RDMA devices in one guest: rxe0 and rxe1 over the two ends of a veth pair. Sourced by the scenarios.
# busybox prefers its own `ip` and `tc`: named by path.
ip() { /usr/bin/ip "$@"; }
tc() { /usr/bin/tc "$@"; }
fail=0
bad() {
  echo "GUEST-FAIL: $*"
  fail=1
}
echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
ip link set lo up
ip link add va address 02:00:00:00:00:01 mtu 4200 type veth peer name vb address 02:00:00:00:00:02 mtu 4200 || bad "veth"
ip addr add 10.0.0.1/24 dev va
ip addr add 10.0.0.2/24 dev vb
ip addr add fd00::1/64 dev va nodad
ip addr add fd00::2/64 dev vb nodad
ip link set va up
ip link set vb up
rdma link add rxe0 type rxe netdev va || bad "rxe0"
rdma link add rxe1 type rxe netdev vb || bad "rxe1"
sleep 0.3
