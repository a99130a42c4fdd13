# Sourced by the scripts of servers. A script sets name, version, wait_seconds and the functions installed, install, start, and
# mark (what the command line of its own process holds); its process id goes to $data/pid, its output to $data/out.
# Verbs: install | installed | start DATADIR PORT | stop DATADIR, of which stop leaves DATADIR as it is.

alive() { # A process id that was used again names somebody else.
  [ -s "$data/pid" ] && kill -0 "$(cat "$data/pid")" 2>/dev/null && tr '\0' ' ' <"/proc/$(cat "$data/pid")/cmdline" | grep -qF "$(mark)"
}

port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

demand_free() { # Ports that nobody else listens on.
  local taken
  for taken in "$@"; do
    if port_open "$taken"; then echo "port $taken is taken by another process" >&2; exit 3; fi
  done
}

begin() { # Runs a command in the background, in a session of its own.
  : >"$data/out"
  setsid nohup "$@" >"$data/out" 2>&1 </dev/null &
  echo $! >"$data/pid"
}

await() { # Waits until a command succeeds.
  local round
  for ((round = 0; round < wait_seconds * 10; round++)); do
    if "$@"; then echo "$name $version on 127.0.0.1:$port, process $(cat "$data/pid")"; return; fi
    sleep 0.1
    alive || break
  done
  echo "$name did not start:" >&2; tail -30 "$data/out" >&2; stop; exit 5
}

stop() {
  if alive; then
    local pid round; pid=$(cat "$data/pid"); kill -TERM "$pid"
    for ((round = 0; round < 300; round++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then kill -KILL "$pid"; fi
  fi
  rm -f "$data/pid"
}

run_verb() {
  case ${1:-} in
    install) installed || install ;;
    installed) installed ;;
    start) [ $# -eq 3 ] || usage; mkdir -p "$2"; data=$(cd "$2" && pwd); port=$3; alive && return
      installed || { echo "$name is not installed: run $0 install" >&2; exit 2; }
      start ;;
    stop) [ $# -eq 2 ] || usage; [ -d "$2" ] || return 0; data=$(cd "$2" && pwd); stop ;;
    *) usage ;;
  esac
}

usage() { sed -n '2,7s/^# //p' "$0" >&2; exit 64; }
