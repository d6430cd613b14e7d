# bash completion for holdfast. The program itself knows what fits: its commands, their options and,
# if the store answers within 300 ms, the names of live locks.
_holdfast() {
  local cur=${COMP_WORDS[COMP_CWORD]} word i
  COMPREPLY=()
  # Behind -- stands a command of the user's.
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      COMP_WORDS=("${COMP_WORDS[@]:i+1}")
      COMP_CWORD=$((COMP_CWORD - i - 1))
      if ((COMP_CWORD == 0)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      fi
      return
    fi
  done
  while IFS= read -r word; do
    [[ $word != "$cur"* ]] || COMPREPLY+=("$word")
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _holdfast holdfast
