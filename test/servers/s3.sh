#!/usr/bin/env bash
# A real S3 server over a folder (Versity S3 Gateway), from the Go module proxy. Needs Go; loopback only.
#   s3.sh install
#   s3.sh installed             tells by its exit code
#   s3.sh start DATADIR PORT    S3_URL is then http://platform:platform-secret@127.0.0.1:PORT/BUCKET
#   s3.sh stop DATADIR          ends what start began, by its process id; DATADIR stays, and can be started again
set -euo pipefail
version=v1.8.0
cache=${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
server=$cache/versitygw-$version/versitygw
wait_seconds=30
verb=${1:-}

installed() { [ -x "$server" ]; }

install() {
  installed && return
  mkdir -p "$cache"
  GOBIN=$cache/versitygw-$version go install "github.com/versity/versitygw/cmd/versitygw@$version"
  echo "versitygw $version installed in $cache"
}

alive() { # The file of the process id names a server that is ours.
  [ -s "$data/s3.pid" ] && kill -0 "$(cat "$data/s3.pid")" 2>/dev/null && tr '\0' ' ' <"/proc/$(cat "$data/s3.pid")/cmdline" | grep -qF "$data/buckets"
}
port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

start() {
  alive && return
  installed || { echo "the S3 server is not installed: run $0 install" >&2; exit 2; }
  if port_open "$port"; then echo "port $port is taken by another process" >&2; exit 3; fi
  mkdir -p "$data/buckets" "$data/attributes"
  # Attributes beside the files: not every file system keeps extended ones.
  ROOT_ACCESS_KEY=platform ROOT_SECRET_KEY=platform-secret setsid nohup "$server" --port "127.0.0.1:$port" --keep-alive --quiet posix --sidecar "$data/attributes" "$data/buckets" >"$data/s3.log" 2>&1 </dev/null &
  echo $! >"$data/s3.pid"
  local round
  for ((round = 0; round < wait_seconds * 10; round++)); do
    if port_open "$port"; then echo "versitygw $version on 127.0.0.1:$port, process $(cat "$data/s3.pid")"; return; fi
    sleep 0.1
    alive || break
  done
  echo "the S3 server did not start:" >&2; tail -30 "$data/s3.log" >&2; stop; exit 5
}

stop() {
  if alive; then
    local pid round; pid=$(cat "$data/s3.pid"); kill -TERM "$pid"
    for ((round = 0; round < 100; round++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then kill -KILL "$pid"; fi
  fi
  rm -f "$data/s3.pid"
}

usage() { sed -n '2,6s/^# //p' "$0" >&2; exit 64; }
case $verb in
  install) install ;;
  installed) installed ;;
  start) [ $# -eq 3 ] || usage; mkdir -p "$2"; data=$(cd "$2" && pwd); port=$3; start ;;
  stop) [ $# -eq 2 ] || usage; [ -d "$2" ] || exit 0; data=$(cd "$2" && pwd); stop ;;
  *) usage ;;
esac
