#!/usr/bin/env bash
# A real S3 server over a folder (Versity S3 Gateway), from the Go module proxy. Needs Go; loopback only.
#   s3.sh install
#   s3.sh installed             tells by its exit code
#   s3.sh start DATADIR PORT    S3_URL is then http://platform:platform-secret@127.0.0.1:PORT/BUCKET
#   s3.sh stop DATADIR          ends what start began, by its process id; DATADIR stays, and can be started again
set -euo pipefail
name='the S3 server'
version=v1.8.0
wait_seconds=30
cache=${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
server=$cache/versitygw-$version/versitygw
. "$(dirname "${BASH_SOURCE[0]}")/server-process.sh"

installed() { [ -x "$server" ]; }

install() {
  mkdir -p "$cache"
  GOBIN=$cache/versitygw-$version go install "github.com/versity/versitygw/cmd/versitygw@$version"
  echo "versitygw $version installed in $cache"
}

mark() { echo "$data/buckets"; }

start() {
  demand_free "$port"
  mkdir -p "$data/buckets" "$data/attributes"
  # Attributes beside the files: not every file system keeps extended ones.
  begin env ROOT_ACCESS_KEY=platform ROOT_SECRET_KEY=platform-secret "$server" --port "127.0.0.1:$port" --keep-alive --quiet posix --sidecar "$data/attributes" "$data/buckets"
  await port_open "$port"
}

run_verb "$@"
