#!/bin/sh
# Writes `.env` from `.env.example` with a random secret for each empty value. An `.env` that is there stays as it is.
set -eu
cd "$(dirname "$0")"
[ ! -e .env ] || { echo ".env is there already" >&2; exit 1; }
umask 077
while IFS= read -r line; do
  case $line in
    [A-Z]*=) printf '%s%s\n' "$line" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >.env
