#!/usr/bin/env bash
# Installs every server of this folder, and the embedding model, that can be had here, each within INSTALL_SECONDS (420); one line for each says why it is not.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for name in mongodb elasticsearch kafka s3 minilm; do
  if "$here/$name.sh" installed; then echo "servers: $name is installed"
  elif timeout "${INSTALL_SECONDS:-420}" "$here/$name.sh" install >"$log" 2>&1; then echo "servers: $name was installed"
  else echo "servers: $name could not be installed: $(tail -1 "$log" | cut -c1-200)"
  fi
done
