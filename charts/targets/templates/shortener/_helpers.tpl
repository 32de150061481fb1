{{/* What the variant needs: true or nothing. */}}
{{- define "shortener.redis" -}}
{{- if or .Values.shortener.cache.enabled (eq .Values.shortener.clicks.mode "redis") }}true{{ end -}}
{{- end }}
{{- define "shortener.consumed" -}}
{{- if has .Values.shortener.clicks.mode (list "redis" "kafka") }}true{{ end -}}
{{- end }}

{{/*
The addresses of all shards, in the order of the ring: (list $ "postgres") or, behind
PgBouncer, (list $ "pgbouncer").
*/}}
{{- define "shortener.shards" -}}
{{- $root := index . 0 -}}
{{- $name := $root.Values.shortener.service.name -}}
{{- $shards := list -}}
{{- range $i := until ($root.Values.postgres.shards | int) -}}
{{- if eq (index $ 1) "pgbouncer" -}}
{{- $shards = append $shards (printf "%s-pgbouncer-%d:6432" $name $i) -}}
{{- else -}}
{{- $shards = append $shards (printf "%s-postgres-%d.%s-postgres:5432" $name $i $name) -}}
{{- end -}}
{{- end -}}
{{- join "," $shards -}}
{{- end }}

{{/* The environment of every writer to the shards; the same arguments. */}}
{{- define "shortener.database" -}}
{{- $root := index . 0 -}}
- {name: POSTGRES_SHARDS, value: {{ include "shortener.shards" . | quote }}}
- {name: POSTGRES_DATABASE, value: shortener}
- {name: POSTGRES_USER, value: shortener}
{{ include "targets.password" (list "POSTGRES_PASSWORD" (include "targets.secret" (list $root "shortener")) "postgres-password") }}
- {name: LINK_INDEX, value: {{ ternary "on" "off" $root.Values.shortener.linkIndex | quote }}}
- {name: CODE_LENGTH, value: {{ $root.Values.shortener.codeLength | int64 | quote }}}
- {name: LINK_TTL, value: {{ $root.Values.shortener.linkTTL | quote }}}
{{- end }}

{{/* The environment of what uses Redis. */}}
{{- define "shortener.redisAddress" -}}
- {name: REDIS_ADDR, value: "{{ .Values.shortener.service.name }}-redis:6379"}
{{ include "targets.password" (list "REDIS_PASSWORD" (include "targets.secret" (list . "shortener")) "redis-password") }}
{{- end }}

{{/* The environment of replicas and consumers for clicks, and for Redis if they need it. */}}
{{- define "shortener.queues" -}}
{{- with .Values.shortener -}}
- {name: CLICKS, value: {{ ternary "off" .clicks.mode (eq .clicks.mode "none") | quote }}}
{{- if include "shortener.redis" $ }}
{{ include "shortener.redisAddress" $ }}
- {name: REDIS_POOL_SIZE, value: {{ $.Values.redis.poolSize | int64 | quote }}}
{{- end }}
{{- if eq .clicks.mode "kafka" }}
- {name: KAFKA_BROKERS, value: "{{ .service.name }}-kafka:9092"}
- {name: KAFKA_TOPIC, value: {{ .clicks.topic | quote }}}
{{- end }}
{{- end }}
{{- end }}
