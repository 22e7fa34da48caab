# JMH's JSON files, of one run or several, as a table: the median over the forks of each fork's median iteration,
# and heap per operation where the run had -prof gc.
#
#   jq -rs -f jmh/medians.jq FILE...

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def digits: if . >= 1000 then round elif . >= 10 then . * 10 | round / 10 else . * 100 | round / 100 end;

(["jdk", "threads", "benchmark", "rival", "size or trace", "median", "unit", "forks", "B/op"] | @tsv),
( map(.[])
  | group_by([.jdkVersion, .threads, .benchmark, .params.sizeBytes, .params.trace, .params.rival])[]
  | (map(.primaryMetric.rawData[] | median)) as $forks
  | (map(.secondaryMetrics["gc.alloc.rate.norm"].rawData // [] | .[] | median)) as $heap
  | .[0]
  | [ .jdkVersion, .threads, (.benchmark | split(".") | .[-2]), .params.rival, (.params.sizeBytes // .params.trace),
      ($forks | median | digits), .primaryMetric.scoreUnit, ($forks | length),
      (if $heap == [] then "" else ($heap | median | digits) end) ]
  | @tsv )
