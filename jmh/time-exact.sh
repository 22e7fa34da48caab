#!/usr/bin/env bash
# Times `plan --strategy exact --capacity C` on tables of lifetimes, whole processes with the JVM's start, and beside each the same of a
# rival if there is one: seconds of both in turn, the median of the ratios, and the geometric mean over all tables.
#
#   jmh/time-exact.sh 1048576 A.1048576.csv B.1048576.csv
#   RIVAL='minimalloc --capacity=1048576 --output=/dev/null --input=' RUNS=9 jmh/time-exact.sh 1048576 *.1048576.csv
#
# The rival's words get the file's name behind them. MEASURE=cpu counts processor time, for a machine that others use. Lifetimes of
# MiniMalloc are half open: its columns start and end must be called lower and upper.
set -euo pipefail
(($# >= 2)) || { echo "usage: time-exact.sh CAPACITY FILE..." >&2; exit 2; }
jar=$(dirname "$0")/../src/target/prmalloc-cli.jar
capacity=$1
shift
runs=${RUNS:-5}
[[ ${MEASURE:-wall} == cpu ]] && TIMEFORMAT='%U %S' || TIMEFORMAT='%R'

# The seconds a command takes; it must succeed.
seconds() {
  local taken
  taken=$({ time "$@" > /dev/null 2>&1; } 2>&1) || { echo "failed: $*" >&2; exit 1; }
  awk '{ print $1 + $2 }' <<< "$taken"
}

for file in "$@"; do
  for ((run = 0; run < runs; run++)); do
    own=$(seconds java -jar "$jar" plan "$file" --strategy exact --capacity "$capacity")
    rival=0
    # Words, so not quoted.
    [[ -z ${RIVAL:-} ]] || rival=$(seconds bash -c "$RIVAL$file")
    echo "$(basename "$file") $own $rival"
  done
done | awk '
  function median(list, count,   i, j, held) {
    for (i = 2; i <= count; i++)
      for (j = i; j > 1 && list[j - 1] > list[j]; j--) { held = list[j]; list[j] = list[j - 1]; list[j - 1] = held }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
  }
  function show(   ratio) {
    printf "%-24s %6.2f s", name, median(own, count)
    if (rival[1] > 0) {
      ratio = median(ratios, count)
      printf "  rival %6.2f s  ratio %.2f", median(rival, count), ratio
      logs += log(ratio)
      files++
    }
    print ""
  }
  $1 != name { if (count) show(); name = $1; count = 0 }
  { own[++count] = $2; rival[count] = $3; ratios[count] = $3 > 0 ? $2 / $3 : 0 }
  END { show(); if (files) printf "geometric mean of the ratios %.2f\n", exp(logs / files) }'
