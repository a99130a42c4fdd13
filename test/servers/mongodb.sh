#!/usr/bin/env bash
# A server that speaks MongoDB's protocol for tests: SecantusDB from PyPI, over WiredTiger, in a private virtual environment.
#   install | installed | start DATADIR [PORT] | stop DATADIR        (127.0.0.1 only; port 27947 by default)
# It is the primary of a replica set of one member, with transactions and change streams.
# MONGODB_STANDALONE=1: no replica set and no transactions. MONGODB_MEMORY=1: nothing is kept on disk.
set -euo pipefail
VERSION=0.7.0b3
HOME_DIR="${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}/secantusdb-$VERSION"
PYTHON="$HOME_DIR/venv/bin/python"
REQUIREMENTS="SecantusDB==$VERSION
dnspython==2.9.2
future==1.0.0
numpy==2.4.6
pymongo==4.20.0
python-dateutil==4.0.0
s2sphere==0.2.5
shapely==2.2.0
tzdata==2026.6"

installed() { [ -f "$HOME_DIR/stamp" ] && [ "$(cat "$HOME_DIR/stamp")" = "$REQUIREMENTS" ]; }

install() {
  if installed; then echo "installed: $HOME_DIR"; return; fi
  rm -rf "$HOME_DIR"
  mkdir -p "$HOME_DIR"
  python3 -m venv "$HOME_DIR/venv"
  printf '%s\n' "$REQUIREMENTS" > "$HOME_DIR/requirements.txt"
  # Wheels where there are any; a platform without builds from source.
  "$PYTHON" -m pip install -q --disable-pip-version-check --no-deps --only-binary=:all: -r "$HOME_DIR/requirements.txt" 2> "$HOME_DIR/pip.log" \
    || "$PYTHON" -m pip install -q --disable-pip-version-check --no-deps -r "$HOME_DIR/requirements.txt"
  printf '%s\n' "$REQUIREMENTS" > "$HOME_DIR/stamp"
  echo "installed: $HOME_DIR"
}

alive() { [ -f "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null && ps -o args= -p "$(cat "$1/pid")" | grep -q secantusd-py; }

start() {
  local data="${1:?data folder}" port="${2:-27947}"
  mkdir -p "$data"
  data="$(cd "$data" && pwd)"
  if alive "$data"; then echo "running: pid $(cat "$data/pid") mongodb://127.0.0.1:$(cat "$data/port")/"; return; fi
  installed || { echo "run '$0 install' first" >&2; return 1; }
  local store="$data/wt"
  [ -z "${MONGODB_MEMORY:-}" ] || store=":memory:"
  : > "$data/secantusd.toml"   # an empty file of its own: no configuration is picked up from elsewhere
  # Synced at each commit: otherwise it confirms transactions, also those that ask for the journal, that are still in its own memory, and
  # a kill loses them, as no MongoDB does.
  ( cd "$data"; exec setsid "$PYTHON" "$HOME_DIR/venv/bin/secantusd-py" --config "$data/secantusd.toml" --host 127.0.0.1 --port "$port" \
      --storage-path "$store" --log-level WARNING --sync-on-commit ${MONGODB_STANDALONE:+--standalone} ) > "$data/log" 2>&1 < /dev/null &
  echo $! > "$data/pid"
  echo "$port" > "$data/port"
  for _ in $(seq 1 300); do
    kill -0 "$(cat "$data/pid")" 2>/dev/null || { echo "ended at start:" >&2; tail -20 "$data/log" >&2; rm -f "$data/pid"; return 1; }
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "ready: pid $(cat "$data/pid") mongodb://127.0.0.1:$port/"; return; fi
    sleep 0.1
  done
  echo "not ready in 30 s" >&2
  tail -20 "$data/log" >&2
  return 1
}

stop() {
  local data="${1:?data folder}" pid
  alive "$data" || { rm -f "$data/pid"; echo "not running"; return; }
  pid="$(cat "$data/pid")"
  kill -TERM "$pid"
  for _ in $(seq 1 100); do
    kill -0 "$pid" 2>/dev/null || { rm -f "$data/pid"; echo "stopped"; return; }
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
  rm -f "$data/pid"
  echo "killed after 10 s"
}

case "${1:-}" in
  install) install ;;
  installed) installed ;;
  start) shift; start "$@" ;;
  stop) shift; stop "$@" ;;
  *) sed -n '2,5p' "$0"; exit 2 ;;
esac
