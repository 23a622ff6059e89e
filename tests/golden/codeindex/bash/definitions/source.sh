#!/bin/bash
# Deploys.
set -euo pipefail

readonly MAX=3
declare -r LIMIT=4
export TARGET=/srv
COUNT=1
lower=2

function one {
  echo "a $x"
}

two() {
  local a="$1"
  three() { echo 1; }
  cat <<EOF
hello $a
EOF
}

function four() (
  echo sub
)

five() { echo; } >/dev/null

name-with::signs() { :; }

case $x in
  a) six() { :; } ;;
esac

two() { echo again; }
