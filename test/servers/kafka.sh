#!/usr/bin/env bash
# A real Apache Kafka of one node (broker and controller in one JVM), from Maven Central. Needs Java 17 and Maven; loopback only.
#   kafka.sh install
#   kafka.sh installed             tells by its exit code
#   kafka.sh start DATADIR PORT    plain on PORT, controller on PORT+1; with KAFKA_SECURE=true also TLS with SASL on PORT+2
#   kafka.sh stop DATADIR          ends what start began, by its process id; DATADIR stays, and can be started again
# With KAFKA_ADVERTISED_PORT clients are sent there, which may be a proxy. The secure listener knows the user `relay` with the password `relay-secret`; DATADIR/ca.pem is the certificate to trust.
set -euo pipefail
name=kafka
version=4.3.1
wait_seconds=60
cache=${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
lib=$cache/kafka-$version
. "$(dirname "${BASH_SOURCE[0]}")/server-process.sh"

installed() { [ -f "$lib/complete" ]; }

install() {
  rm -rf "$lib"; mkdir -p "$lib"
  cat >"$lib/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test.local</groupId><artifactId>kafka-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
POM
  mvn -B -q -f "$lib/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib/jars"
  touch "$lib/complete"
  echo "kafka $version installed in $lib"
}

mark() { echo "kafka.Kafka $data/server.properties"; }

configure() {
  local listeners="PLAINTEXT://127.0.0.1:$port" protocols=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
  if [ "${KAFKA_SECURE:-false}" = true ]; then
    listeners="$listeners,SECURE://127.0.0.1:$((port + 2))" protocols="$protocols,SECURE:SASL_SSL"
  fi
  cat >"$data/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=$listeners,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=${listeners/:$port/:${KAFKA_ADVERTISED_PORT:-$port}}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=$protocols
log.dirs=$data/log
num.network.threads=2
num.io.threads=4
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.segment.bytes=16777216
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=8388608
CONF
  [ "${KAFKA_SECURE:-false}" = true ] || return 0
  cat >>"$data/server.properties" <<CONF
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_relay="relay-secret";
listener.name.secure.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.ssl.keystore.location=$data/server.p12
listener.name.secure.ssl.keystore.password=keystore
listener.name.secure.ssl.key.password=keystore
CONF
  [ -f "$data/ca.pem" ] && return
  keytool -genkeypair -alias kafka -keyalg EC -validity 30 -dname CN=localhost -ext san=ip:127.0.0.1,dns:localhost -storetype PKCS12 -keystore "$data/server.p12" -storepass keystore 2>/dev/null
  keytool -exportcert -rfc -alias kafka -keystore "$data/server.p12" -storepass keystore -file "$data/ca.pem" 2>/dev/null
}

start() {
  demand_free "$port" $((port + 1)) $((port + 2))
  mkdir -p "$data/tmp"
  configure
  local java=(java -Xms384m -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+ExitOnOutOfMemoryError -Djava.net.preferIPv4Stack=true "-Djava.io.tmpdir=$data/tmp" -Dorg.slf4j.simpleLogger.showDateTime=true -cp "$lib/jars/*")
  if [ ! -f "$data/log/meta.properties" ]; then
    "${java[@]}" kafka.tools.StorageTool format -t "$("${java[@]}" kafka.tools.StorageTool random-uuid 2>/dev/null | tail -1)" -c "$data/server.properties" \
      --add-scram 'SCRAM-SHA-256=[name=relay,password=relay-secret]' --add-scram 'SCRAM-SHA-512=[name=relay,password=relay-secret]' >"$data/format.log" 2>&1 || { cat "$data/format.log" >&2; exit 4; }
  fi
  begin "${java[@]}" kafka.Kafka "$data/server.properties"
  await started
}

started() { grep -q 'Kafka Server started' "$data/out" && port_open "$port"; }

run_verb "$@"
