#!/bin/sh
# Runs one shard, in any image with Postgres's programs in its PATH: makes the
# database at the first start, then becomes the server, with the arguments given.
set -eu

# A start that is cut short leaves $made behind, never half a database in $data.
data=$PGDATA
made=$PGDATA.new
if [ ! -s "$data/PG_VERSION" ]; then
  rm -rf "$made"
  initdb --pgdata="$made" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C
  echo 'host all all all scram-sha-256' >>"$made/pg_hba.conf"
  # The single-user mode needs no server, no socket and no password.
  echo "CREATE DATABASE $POSTGRES_DATABASE" | postgres --single -D "$made" postgres >/dev/null
  mv "$made" "$data"
fi

# The kubelet lets the group write what is on a volume, which Postgres refuses.
chmod 0700 "$data"
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
