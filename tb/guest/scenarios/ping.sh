# SPDX-License-Identifier: Apache-2.0
# `tidemill ping` between two processes, one on each device: by name, by GID and QPN, deep, under loss, and by the other
# kinds of GID.
. /scenarios/network.sh

ping() { # what, arguments of the client
  what=$1
  shift
  echo "--- ping: $what"
  timeout 60 tidemill ping --device rxe0 "$@" || bad "ping: $what"
}
serve() { # device, arguments
  device=$1
  shift
  tidemill ping --server --device "$device" "$@" >/tmp/server 2>&1 &
  server=$!
  turns=0 # a busy machine may hold it up for seconds
  until grep -q QPN /tmp/server; do
    turns=$((turns + 1))
    [ $turns -gt 100 ] && bad "the server does not come up" && break
    sleep 0.2
  done
  cat /tmp/server
}
end_server() {
  kill $server
  wait $server || bad "the server ended with $?"
  tail -1 /tmp/server
}

serve rxe1
ping "asked by TCP" 127.0.0.1 --count 500
ping "depth 64" 127.0.0.1 --count 3000 --depth 64 --timeout-ms 2000
ping "depth 1024 over a queue of 16" 127.0.0.1 --count 3000 --depth 1024 --send-depth 16 --timeout-ms 5000
ping "inline" 127.0.0.1 --count 1000 --depth 16 --inline 256 --timeout-ms 2000
qpn=$(sed -n 's/.*QPN \([0-9]*\).*/\1/p' /tmp/server | head -1)
ping "by GID and QPN" --gid fe80::ff:fe00:2 --qpn "$qpn" --count 200
tc qdisc add dev va root netem loss 10% || bad netem
ping "10 % loss" 127.0.0.1 --count 300 --depth 32 --timeout-ms 100 --retries 20
tc qdisc del dev va root
echo "--- ping: nobody has this queue pair"
timeout 60 tidemill ping --device rxe0 --gid fe80::ff:fe00:2 --qpn 123456 --count 3 --timeout-ms 50 --retries 1 && bad "answered by nobody"
end_server

index_of() { # device, GID as sysfs writes it
  for i in 0 1 2 3 4 5 6 7; do
    [ "$(cat /sys/class/infiniband/$1/ports/1/gids/$i)" = "$2" ] && echo $i && return
  done
}
# Within one machine such addresses are local: the kernel takes them to the device itself, never over the veth pair.
for gid in fd00:0000:0000:0000:0000:0000:0000:0001 0000:0000:0000:0000:0000:ffff:0a00:0001; do
  index=$(index_of rxe0 $gid)
  serve rxe0 --gid-index "$index"
  ping "GID $gid" 127.0.0.1 --gid-index "$index" --count 200 --timeout-ms 500
  end_server
done
exit $fail
