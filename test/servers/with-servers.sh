#!/usr/bin/env bash
# Starts every server that can be started here and runs a command with their addresses in its environment; then ends them.
#   with-servers.sh COMMAND...
# A server whose address is given already (MONGODB_URL and so on) is taken as it is. Without EVENTSTORE_URL the double serves.
# One line for each says what it is, or why it is skipped; REQUIRE_SERVERS=true makes a skipped one a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 64; }
install_seconds=${INSTALL_SECONDS:-420}
work=$(mktemp -d)
chmod 711 "$work"
started=()
double=
skipped=0

cleanup() {
  local name
  for name in "${started[@]}"; do "$here/$name.sh" stop "$work/$name" || true; done
  if [ -n "$double" ]; then kill "$double" 2>/dev/null || true; wait "$double" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# Free with the two behind it, which Kafka takes too, and none that the system gives to connections.
free_port() {
  local port taken
  while :; do
    port=$((20000 + RANDOM % 10000)); taken=0
    for near in "$port" $((port + 1)) $((port + 2)); do if (exec 3<>"/dev/tcp/127.0.0.1/$near") 2>/dev/null; then taken=1; fi; done
    if [ "$taken" -eq 0 ]; then echo "$port"; return; fi
  done
}
skip() { printf 'servers: %-18s skipped: %s\n' "$1" "$2"; skipped=$((skipped + 1)); }

# Installs and starts a server; sets `port`. Fails when it cannot be had here.
begin() {
  local name=$1
  if ! timeout "$install_seconds" "$here/$name.sh" install >"$work/$name.install" 2>&1; then skip "$name" "$(tail -1 "$work/$name.install" | cut -c1-200)"; return 1; fi
  port=$(free_port)
  if ! "$here/$name.sh" start "$work/$name" "$port" >"$work/$name.start" 2>&1; then skip "$name" "$(tail -1 "$work/$name.start" | cut -c1-200)"; return 1; fi
  started+=("$name")
  printf 'servers: %-18s %s\n' "$name" "$(tail -1 "$work/$name.start")"
}

given() { printf 'servers: %-18s given\n' "$1"; }

# Without writes that the driver repeats: the server started here keeps their answers for half an hour and, once it has ten thousand, sorts
# them at each write. A write took 2 to 5 s by then, and requests were 503.
if [ -n "${MONGODB_URL:-}" ]; then given mongodb; elif begin mongodb; then export MONGODB_URL="mongodb://127.0.0.1:$port/platform?retryWrites=false"; fi
if [ -n "${ELASTICSEARCH_URL:-}" ]; then given elasticsearch; elif begin elasticsearch; then export ELASTICSEARCH_URL="http://127.0.0.1:$port"; fi
if [ -n "${KAFKA_BROKERS:-}" ]; then given kafka; elif begin kafka; then export KAFKA_BROKERS="127.0.0.1:$port"; fi
if [ -n "${S3_URL:-}" ]; then given s3; elif begin s3; then export S3_URL="http://platform:platform-secret@127.0.0.1:$port/platform"; fi
if [ -z "${MINILM_FOLDER:-}" ]; then
  if timeout "$install_seconds" "$here/minilm.sh" install >"$work/minilm.install" 2>&1; then MINILM_FOLDER=$("$here/minilm.sh" folder); export MINILM_FOLDER
  else printf 'servers: %-18s skipped: %s\n' minilm "$(tail -1 "$work/minilm.install" | cut -c1-200)"; fi
fi
if [ -n "${EVENTSTORE_URL:-}" ]; then
  given eventstore
else
  port=$(free_port)
  (cd "$root" && exec node_modules/.bin/node --require ./test/register.cjs test/servers/eventstoredb/main.ts --port "$port" --file "$work/eventstore.jsonl") >"$work/eventstore.start" 2>&1 &
  double=$!
  for _ in $(seq 150); do grep -qs '^esdb://' "$work/eventstore.start" && break; sleep 0.2; done
  EVENTSTORE_URL=$(grep -m1 '^esdb://' "$work/eventstore.start") || { cat "$work/eventstore.start"; exit 1; }
  export EVENTSTORE_URL
  printf 'servers: %-18s the double of the tests; give EVENTSTORE_URL for a real one\n' eventstore
fi

if [ "$skipped" -gt 0 ] && [ "${REQUIRE_SERVERS:-false}" = true ]; then echo "$skipped servers could not be started" >&2; exit 1; fi
"$@"
