#!/usr/bin/env bash
# snippets.sh <source dir> <libholdfast.a> <compiler>: compiles and runs every whole program (a ```cpp
# block with a main) in the README and the docs, so that what people copy works.
set -euo pipefail
source=$1 library=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count=0
while IFS= read -r page; do
  rm -f "$work"/block-*.cpp
  awk -v out="$work/block-" '
    /^```cpp$/ { inside = 1; file = out (++n) ".cpp"; next }
    /^```$/    { inside = 0; next }
    inside     { print > file }' "$page"
  for block in "$work"/block-*.cpp; do
    [[ -e $block ]] && grep -q 'int main' "$block" || continue
    "$compiler" -std=c++20 -Wall -Wextra -Werror -I "$source/include" "$block" "$library" -pthread \
      -o "$work/program"
    timeout 60 "$work/program"
    count=$((count + 1))
    echo "ok: ${page#"$source"/}, $(basename "$block" .cpp)"
  done
done < <(find "$source/README.md" "$source/docs" -name '*.md' | sort)

echo "programs in the docs: $count"
((count > 0))
