#!/bin/sh
# Prints every animal of a rehome service, page by page, each page as the JSON that it is.
#
#   API_URL=http://127.0.0.1:8080/v1 API_KEY=rehome_live_... sh examples/all-animals.sh [status]
#
# Needs curl and a POSIX shell. Numbers stay text, so they are exact.
set -eu

base_url=${API_URL:-http://127.0.0.1:8080/v1}
attempts_max=6
headers=$(mktemp)
body=$(mktemp)
trap 'rm -f "$headers" "$body"' EXIT

# The value of a header of the last answer.
header() {
  tr -d '\r' <"$headers" | sed -n "s/^$1: *//Ip" | head -n 1
}

# GETs an address. After 429 or 503 it waits as long as it is told, and longer each time; then it gives up.
# The key goes in by standard input, so that no list of processes shows it.
get() {
  attempt=0
  backoff=1
  while :; do
    status=$(printf 'header = "Authorization: Bearer %s"\n' "${API_KEY:-}" |
      curl --silent --show-error --max-time 30 --config - --dump-header "$headers" \
        --output "$body" --write-out '%{http_code}' "$1")
    [ "$status" = 200 ] && return
    attempt=$((attempt + 1))
    case $status in
      429 | 503) [ "$attempt" -lt "$attempts_max" ] || break ;;
      *) break ;;
    esac
    told=$(header retry-after)
    wait=${told:-0}
    [ "$wait" -ge "$backoff" ] || wait=$backoff
    echo "$(cat "$body") Waiting $wait s." >&2
    sleep "$wait"
    backoff=$((backoff * 2))
  done
  echo "Error: $(cat "$body")" >&2
  exit 1
}

next="$base_url/pets?limit=100${1:+&status=$1}"
while [ -n "$next" ]; do
  get "$next"
  cat "$body"
  echo
  next=$(header link | sed -n 's/.*<\([^>]*\)>; *rel="next".*/\1/p')
done
