# SPDX-License-Identifier: Apache-2.0
# Instructions for each round trip, side by side in one run, twice over so that it can be seen how well they repeat: ib_umad, plain
# UD verbs, Tidemill on the verbs wire. All on rxe0 with itself, two processes.
. /scenarios/network.sh
tidemill_cost() { # name, depth, options
  name=$1
  depth=$2
  shift 2
  line=$(tidemill ping --device rxe0 127.0.0.1 --count 2000 --depth "$depth" --timeout-ms 10000 --json - "$@") || bad "$name"
  elapsed=$(echo "$line" | sed -n 's/.*"elapsed_ns": \([0-9]*\).*/\1/p')
  echo "COST $name $depth $((elapsed / 2000))" | tee -a /tmp/costs
}
tidemill ping --server --device rxe0 >/tmp/server 2>&1 &
server=$!
sleep 1
for round in 1 2; do
  for depth in 1 64; do
    timeout 60 guest_cost umad $depth 1000 >/tmp/one || bad "umad $depth"
    tee -a /tmp/costs </tmp/one
    timeout 60 guest_cost verbs $depth 2000 >/tmp/one || bad "verbs $depth"
    tee -a /tmp/costs </tmp/one
    tidemill_cost tidemill $depth
    tidemill_cost tidemill-inline $depth --inline 256
  done
done
guest_cost sizes || bad sizes
kill $server

# The goals, at depth 64: at most 1.25 times plain verbs, at least 2.5 times fewer than ib_umad. Counts, not times: they repeat.
awk '$3 == 64 { sum[$2] += $4; n[$2]++ }
     END {
       verbs = sum["verbs"] / n["verbs"]; umad = sum["umad"] / n["umad"]; ours = sum["tidemill"] / n["tidemill"]
       printf "depth 64: %.2f times plain verbs, ib_umad takes %.2f times as many\n", ours / verbs, umad / ours
       exit !(ours <= 1.25 * verbs && umad >= 2.5 * ours)
     }' /tmp/costs || bad "a goal is missed"
exit $fail
