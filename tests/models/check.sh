#!/usr/bin/env bash
# check.sh short|long: runs handover.pml as it is, which must hold, and with one rule broken at a time, which must fail
# in the property that guards that rule. Works in a temporary directory.
#
#   short   two claims, exhaustive; every broken rule. About a minute on two cores.
#   long    short, with more grants, faults and settings, and three and four claims. About 40 minutes, 8 GB.
#
#   ONLY=regex   picks rows by name      JOBS=n   rows at a time (2)      KEEP=1   leaves the working directory behind
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
size=${1:-}
if [[ $size != short && $size != long ]]; then
  echo 'usage: check.sh short|long' >&2
  exit 2
fi
for tool in spin gcc timeout; do
  if ! command -v "$tool" >/dev/null; then
    echo "models: $tool is missing; run: tools/setup test" >&2
    exit 2
  fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-models.XXXXXX") || exit 2
clean_up() {
  local pid
  for pid in "$work"/*/pid; do [[ -e $pid ]] && kill "$(<"$pid")" 2>/dev/null; done
  if [[ ${KEEP:-} ]]; then echo "models: kept in $work"; else rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Names of properties and marks, as the model numbers them.
declare -A number
while read -r _ name value _; do number[$name]=$value; done < <(
  grep -E '^#define (S[0-9]p?|L1|[A-Z]+) +[0-9]+ ' <(sed 's/$/ /' "$here/handover.pml"))
property_named() { # number
  local name
  for name in S1 S1p S2 S2p S3 S3p S4 S5 L1; do
    [[ ${number[$name]} == "$1" ]] && { echo "${name/p/\'}"; return; }
  done
  echo "assertion $1"
}

layout='%-6s %-22s %-9s %-28s %12s %8s\n'
report() { # verdict row must result states seconds
  # shellcheck disable=SC2059
  printf "$layout" "$@"
  printf '%s\n' "$1" >"$work/$2/verdict"
}

# check <row> <must> <how> <marks> <flags>...: one run of the model, in a directory of its own.
#   must    pass, or the property that has to fail; only that one is asserted then
#   how     exact: every state.   bits:SECONDS: bitstate hashing, which may miss states, in random order (a fixed
#           seed), for so long at most
#   marks   places that an exhaustive passing run has to come by, or -
check() {
  local row=$1 must=$2 how=$3 marks=$4
  shift 4
  local limit=3000 optimise=-O2 compile=(-DMEMLIM=7000) run=(-w23)
  [[ $size == short ]] && optimise=-O1 # compiling takes as long as running
  if [[ $how == bits:* ]]; then
    limit=${how#bits:} compile=(-DBITSTATE -DP_RAND -DT_RAND) run=(-w34 -k3 -RS7)
  fi
  if [[ $must != pass ]]; then
    optimise=-O0 # found before an optimiser would have paid
    set -- "$@" "-DJUST=$must"
  fi
  mkdir "$work/$row" && cd "$work/$row" && cp "$here/handover.pml" . || return
  if ! spin -a "$@" handover.pml >spin.out 2>&1 ||
    ! gcc "$optimise" -w -DSAFETY -DNOREDUCE -DNOFAIR "${compile[@]}" -o pan pan.c >gcc.out 2>&1; then
    report WRONG "$row" "${must/p/\'}" 'does not compile' - -
    cat spin.out gcc.out 2>/dev/null | head -20
    return
  fi
  # -E: that everything stands still at the bound on grants is no deadlock.
  timeout -s INT "$limit" ./pan -E -m100000 "${run[@]}" >pan.out 2>&1 &
  echo $! >pid
  wait $!
  local status=$?
  [[ -e pid ]] || return # stopped from outside
  rm pid

  local errors states seconds result verdict=WRONG
  errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.out)
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out)
  seconds=$(sed -n 's/.*elapsed time \([0-9.e+]*\) seconds.*/\1/p' pan.out)
  states=$(printf '%.0f' "${states:-0}")
  if [[ -z $errors ]]; then
    result='no result'
  elif ((errors > 0)); then
    local tag
    tag=$(sed -n 's/.*assertion violated (\([0-9]*\)&&.*/\1/p' pan.out | head -1)
    result="fails $(property_named "${tag:-?}")"
    [[ $must != pass && $tag == "${number[$must]}" ]] && verdict=ok
  else
    local missed='' mark
    if [[ $marks != - ]]; then
      for mark in $marks; do
        grep -qx "mark ${number[$mark]}" pan.out || missed+=" $mark"
      done
    fi
    if grep -q -e 'out of memory' -e 'MEMLIM bound' pan.out; then
      result='out of memory'
    elif grep -q 'max search depth too small' pan.out; then
      result='too deep'
    elif [[ $missed ]]; then
      result="never came by:$missed"
    elif ((status == 124)); then
      result='no error, stopped'
      [[ $must == pass && $how == bits:* ]] && verdict=ok
    elif ((status != 0)); then
      result="ended with status $status"
    else
      result=holds
      [[ $how == bits:* ]] && result='no error (bitstate)'
      [[ $must == pass ]] && verdict=ok
    fi
  fi
  local shown=${must/p/\'}
  [[ $must == pass ]] && shown=pass
  report "$verdict" "$row" "$shown" "$result" "$states" "${seconds:--}"
  [[ $verdict == ok ]] || { echo "       flags: $*"; sed -n 's/.*assertion violated/       assertion violated/p' pan.out; }
}

declare -a rows
row() { # as check
  [[ $1 =~ ${ONLY:-.} ]] || return 0
  rows+=("$(printf '%q ' "$@")")
}

base='CONFIRMED OFFERGONE RETRIED LATEGRANT LATEREFUSE LASTANSWER WDGRANT WDMORE LATERENEW RESTWAKE'
quiet='CONFIRMED OFFERGONE RETRIED LATEGRANT LATEREFUSE LATERENEW RESTWAKE' # of runs in which no wait ends
calm=(-DENDS=0 -DCRASHES=0)
dead_waiter=(-DN=3 -DLIVE -DIDLE=1 -DLEASE=2 -DLD=1 -DCRASHW -DGIVEUPS=0 -DENDS=0 -DGRANTS=3)

# The rules as they are. The largest first, so that the lanes end together.
if [[ $size == long ]]; then
  row claims-3           pass bits:1200 - -DN=3 -DSPARE=1 -DREVOKES=1
  row claims-3-plain     pass bits:600 - -DN=3
  row claims-4-by-2      pass bits:600 - -DN=4 -DC=2 -DGRANTS=5 "${calm[@]}"
  row live-dead-waiter-2 pass bits:600 - -DN=3 -DLIVE -DIDLE=2 -DCRASHW -DGIVEUPS=0 -DENDS=0
  row all-together       pass exact "$base HANDOFF REVOKED REVOKEDTRY" -DSPARE=1 -DREVOKES=1
  row revoke             pass exact "$base REVOKED REVOKEDTRY" -DREVOKES=1
  row give-up-twice      pass exact "$base" -DGIVEUPS=2
  row lease-4            pass exact "$base" -DLEASE=4 -DCONF=2 -DLD=2
  row live               pass exact "$base" -DLIVE -DIDLE=3
  row live-all-together  pass exact "$quiet HANDOFF REVOKED REVOKEDTRY" -DLIVE -DIDLE=3 -DSPARE=1 -DREVOKES=1 "${calm[@]}"
  row hand-off-twice     pass exact "$base HANDOFF" -DSPARE=2
  row claims-3-by-2      pass exact "$quiet" -DN=3 -DC=2 "${calm[@]}"
  row live-dead-waiter   pass exact 'CONFIRMED OFFERGONE' "${dead_waiter[@]}"
  row max-hold           pass exact "$base HANDOFF" -DSPARE=1 -DMAXHOLD=4
  row proven-absence     pass exact "$base" -DPROVE
  row one-attempt        pass exact "$base" -DONESHOT
  row fences-no-clock    pass exact "$quiet HANDOFF REVOKED REVOKEDTRY" -DSTALL -DSPARE=1 -DREVOKES=1 -DJUST=S2p
  row plain              pass exact "$base" -DN=2
else
  row revoke             pass exact "$quiet REVOKED REVOKEDTRY" -DREVOKES=1 -DGRANTS=3 "${calm[@]}"
  row live               pass exact "$quiet" -DLIVE -DIDLE=3 -DGRANTS=3 -DENDS=0
  row hand-off           pass exact "$base HANDOFF" -DSPARE=1 -DGRANTS=3 -DCRASHES=0
  row plain              pass exact "$base" -DGRANTS=3
  row max-hold           pass exact "$quiet HANDOFF" -DSPARE=1 -DMAXHOLD=4 -DGRANTS=3 "${calm[@]}"
  row one-attempt        pass exact "$base" -DONESHOT -DGRANTS=3
  row fences-no-clock    pass exact HANDOFF -DSTALL -DSPARE=1 -DJUST=S2p
fi
row live-no-faults       pass exact CONFIRMED -DN=3 -DLIVE -DCALM0 -DIDLE=0

# One rule broken.
row offer-full-lease     L1  exact - -DNOCONFIRM "${dead_waiter[@]}"
row count-from-wake      S1p exact - -DWAKECOUNT=CONF
row count-from-try       S1p exact - -DTRYCOUNT=LEASE
row count-from-try-short S1p exact - -DTRYCOUNT=CONF
row two-holds            S1  exact - -DTRYCOUNT=CONF "${calm[@]}"
row count-from-answer    S1p exact - -DANSWERCOUNT
row ask-as-new-owner     S4  exact - -DNEWOWNER -DN=3 -DC=2 "${calm[@]}"
row no-second-try        L1  exact - -DNORETRY -DLIVE -DCALM0 -DIDLE=0
row late-grant-released  S1p exact - -DLATEREL "${calm[@]}"
row late-refusal-acted   S1p exact - -DLATEWD "${calm[@]}"
row grant-after-withdraw S1p exact - -DENDHOLD
row wake-after-withdraw  S1p exact - -DWDHOLD
row ended-at-hand-off    S1p exact - -DHANDLATE -DSPARE=1 "${calm[@]}"
row hand-off-restarts    S1p exact - -DHANDRESTART -DSPARE=1
row hand-off-released    S1p exact - -DHANDRELEASED -DSPARE=1
row hand-off-beyond      S2  exact - -DHANDBEYOND -DSPARE=1
row spare-not-reserved   S2  exact - -DNORESERVE -DSPARE=1
row hand-off-shortened   S1p exact - -DHANDSHORT -DMAXHOLD=2 -DSPARE=1 -DGRANTS=2 "${calm[@]}"
row renew-re-creates     S2  exact - -DRECREATE "${calm[@]}"
row renew-any-fence      S2  exact - -DRENEWOWNER -DN=3 -DC=2 -DGRANTS=5 "${calm[@]}"
row release-any          S1p exact - -DRELANY "${calm[@]}"
row offer-keeps-fence    S2  exact - -DKEEPFENCE
row offer-keeps-fence-2  S2p exact - -DKEEPFENCE -DSTALL
row withdraw-line-only   S3p exact - -DWDNOREL
row heads-not-skipped    S3  exact - -DNOSKIP
row line-too-long        S3  exact - -DLD=4
row revoke-frees         S1p exact - -DREVOKENOW -DREVOKES=1
row revoke-renewed       S5  exact - -DREVOKERENEW -DREVOKES=1
row revoke-try-restarts  S5  exact - -DREVOKETRY -DREVOKES=1
row revoke-try-granted   S1p exact - -DREVOKEGRANT -DREVOKES=1
row revoke-try-frees     S1p exact - -DREVOKEACK -DREVOKES=1 "${calm[@]}"

# shellcheck disable=SC2059
printf "$layout" verdict row must result states seconds
for each in "${rows[@]}"; do
  while (($(jobs -rp | wc -l) >= ${JOBS:-2})); do wait -n; done
  eval "check $each" &
done
wait

expected=$(cat "$work"/*/verdict 2>/dev/null | grep -cx ok)
echo "models: ${#rows[@]} rows, $expected as expected"
((${#rows[@]} > 0 && expected == ${#rows[@]}))
