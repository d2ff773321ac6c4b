# SPDX-License-Identifier: Apache-2.0
# Completion for bash: subcommands, their flags, and the names of layers, tasks and claims.
_recollect_names() { recollect list "$1" --json 2>/dev/null | sed -nE 's/^    "(name|id)": "([^"]*)",?$/\2/p'; }
_recollect() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$(recollect --help | sed -nE 's/^  ([a-z]+) +[^ ].*/\1/p')
  elif [[ $word == -* ]]; then
    words=$(recollect "$command" --help | grep -oE -- '--[a-z][a-z-]*' | sort -u)
  else
    case $before:$command in
      --variants:*|variants:list|forward:*|check:*|sample:*) words=$(_recollect_names variants) ;;
      --tasks:*|tasks:list) words=$(_recollect_names tasks) ;;
      claims:list|verify:*) words=$(_recollect_names claims) ;;
      list:*) words="variants tasks claims" ;;
      explain:*) words=$(_recollect_names claims; _recollect_names variants; _recollect_names tasks) ;;
      --form:*) words="fast recurrent chunked parallel" ;;
      --dtype:check) words="f32 tf32 bf16 f16" ;;
      --dtype:*) words="f32 f64 bf16 f16" ;;
      --suite:verify) words="quick full" ;;
      *) compopt -o default; return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _recollect recollect
