# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts of this folder, so that no script is silent for more than ten seconds:
#   beat NAME [COMMAND...]   every ten seconds a line on standard error until end_beat: NAME, the time so far and what COMMAND prints
#   end_beat                 also at the end of the script, unless it has an EXIT trap of its own
beat() {
  local name=$1 start=${EPOCHREALTIME/[.,]/} silence passed # SECONDS may be off by one
  shift
  exec {silence}<> <(:) # a pipe without a writer: reading it with a timeout waits without a sleep process
  while read -r -t "${BEAT_SECONDS:-10}" -u "$silence" _ || (($? > 128)); do
    kill -0 $$ 2>/dev/null || exit 0 # the script was killed
    local where=
    (($# == 0)) || where=$("$@" 2>/dev/null) || true
    passed=$(((${EPOCHREALTIME/[.,]/} - start) / 1000000))
    printf '%s, %d:%02d so far%s\n' "$name" $((passed / 60)) $((passed % 60)) "${where:+: $where}" >&2
  done &
  beating=$!
  exec {silence}<&-
  [[ -n $(trap -p EXIT) ]] || trap end_beat EXIT
}
end_beat() {
  [[ -n ${beating:-} ]] || return 0
  kill "$beating" 2>/dev/null || true
  wait "$beating" 2>/dev/null || true
  beating=
}
