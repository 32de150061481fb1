#!/bin/sh
# Runs a broker, in any image with Kafka 4 in /opt/kafka/libs and java in its PATH:
# formats its storage at the first start, then becomes the server.
set -eu
set -f # the * of the class path is Java's

# The root is read-only, so that nothing is written for jps and jstat.
java="java -XX:-UsePerfData -Djava.io.tmpdir=/tmp -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp /opt/kafka/libs/*"
properties=/etc/kafka/server.properties

# Any 16 bytes in base64 will do for a cluster of one.
$java kafka.tools.StorageTool format --ignore-formatted --standalone \
  --cluster-id bG9hZHRlc3QtdGFyZ2V0cw --config "$properties"
exec $java "-Xms$HEAP" "-Xmx$HEAP" kafka.Kafka "$properties"
