#!/usr/bin/env bash
# Debug examples/shop.py the way an agent would, in a few calls that leave nothing behind. Run it by `./dev demo`.
set -euo pipefail
cd "$(dirname "$0")"
export STILLFRAME_IDLE_SECONDS=5

run() { printf '\n$ %s\n' "$*"; eval "$*"; }

echo "Bob buys for 4.0 with ten per cent off, so he should pay 3.6. What does the shop say?"
run python shop.py
echo
echo "Stop at the order that is too small for such a discount, and look:"
run "dbg launch shop.py --break 'shop.py@\"net = gross\" if gross < 5'"
run dbg next
run "dbg eval 'discount.__defaults__' 'gross * 0.1'"
echo
echo "There it is: the default argument memo is shared by all calls, so Bob gets the 6.15 that was worked out for Ann."
run dbg stop
