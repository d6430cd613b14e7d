#!/usr/bin/env bash
# snippets.sh <source dir> <libholdfast.a> <compiler> [<folder with the program>]: compiles and runs every
# whole program (a ```cpp block with a main) in the README and the docs, and runs every ```sh block that
# begins with "# tested", so that what people copy works.
set -euo pipefail
source=$1 library=$2 compiler=$3 programs=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state PATH=$programs:$PATH
unset HOLDFAST_URL
mkdir "$XDG_STATE_HOME"

cut_out() { # <language> <page>: block-1.<language> …
  awk -v language="$1" -v out="$work/block-" '
    $0 == "```" language { inside = 1; file = out (++n) "." language; next }
    /^```$/              { inside = 0; next }
    inside               { print > file }' "$2"
}

cpp=0 sh=0
while IFS= read -r page; do
  rm -f "$work"/block-*
  cut_out cpp "$page"
  cut_out sh "$page"
  for block in "$work"/block-*.cpp; do
    [[ -e $block ]] && grep -q 'int main' "$block" || continue
    "$compiler" -std=c++20 -Wall -Wextra -Werror -I "$source/include" "$block" "$library" -lsqlite3 \
      -lssl -lcrypto -pthread -o "$work/program"
    timeout 60 "$work/program"
    cpp=$((cpp + 1))
    echo "ok: ${page#"$source"/}, $(basename "$block")"
  done
  for block in "$work"/block-*.sh; do
    [[ -e $block && -n $programs ]] && head -n 1 "$block" | grep -q '^# tested' || continue
    timeout 60 bash -eu "$block"
    sh=$((sh + 1))
    echo "ok: ${page#"$source"/}, $(basename "$block")"
  done
done < <(find "$source/README.md" "$source/docs" -name '*.md' | sort)

echo "programs in the docs: $cpp, shell blocks: $sh"
((cpp > 0))
[[ -z $programs ]] || ((sh > 0))
