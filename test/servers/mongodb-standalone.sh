#!/usr/bin/env bash
# The server of mongodb.sh outside of any replica set: it knows no transactions.
MONGODB_STANDALONE=1 exec "$(dirname "${BASH_SOURCE[0]}")/mongodb.sh" "$@"
