#!/bin/sh
# Builds libprobe.so with the system's compiler: $CC, cc, gcc or clang, whichever is found first.
#
#   build.sh OUTPUT_DIRECTORY
#
# Leaves one of two files in the output directory: libprobe.so, or, where there is no compiler,
# no-library.txt with the reason, which the tests then give for being skipped. A compiler that is
# there and fails is an error.
set -u

source=$(cd "${0%/*}" && pwd) || exit 1
output=$1
mkdir -p "$output" || exit 1
rm -f "$output/libprobe.so" "$output/no-library.txt" || exit 1

compiler=
# CC is not quoted where it is used: it may hold words of its own, as in "ccache gcc".
for candidate in "${CC:-}" cc gcc clang; do
  if [ -n "$candidate" ] && command -v ${candidate%% *} >/dev/null 2>&1; then
    compiler=$candidate
    break
  fi
done

if [ -z "$compiler" ]; then
  echo "there is no C compiler here: tried \$CC (${CC:-not set}), cc, gcc and clang" \
    >"$output/no-library.txt"
  exit 0
fi

exec $compiler -std=c11 -O2 -Wall -Wextra -Werror -fPIC -shared \
  -o "$output/libprobe.so" "$source/probe.c"
