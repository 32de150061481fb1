#!/bin/sh
# kafka [FILE] runs a broker with the properties in FILE, after it has formatted
# the storage that they name, unless that has been done.
#
#   CLUSTER_ID        of a storage that is formatted (22 characters of base64)
#   KAFKA_HEAP_OPTS   the heap's bounds
#   KAFKA_OPTS        more flags of Java
set -eu
properties=${1:-/etc/kafka/server.properties}

# The root may be read-only, so nothing is written for jps and jstat.
java="java -XX:-UsePerfData -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp /opt/kafka/libs/*"

# A quorum with fixed voters is in the properties; any other begins with its
# first controller, which is this one.
text=$(cat "$properties")
case "$text" in
*controller.quorum.voters=*) quorum= ;;
*) quorum=--standalone ;;
esac

set -f # the * of the class path is Java's
$java kafka.tools.StorageTool format --ignore-formatted $quorum \
	--cluster-id "${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" --config "$properties"
exec $java ${KAFKA_HEAP_OPTS:--Xmx512m -Xms256m} ${KAFKA_OPTS:-} kafka.Kafka "$properties"
