{{/*
What shows the figures of a store to Prometheus, as a component of its own: (list $
"shortener" "redis-exporter" PROGRAM "redis" ENVIRONMENT), of which the last but one is its
entry in exporters, and the last is YAML. It is never in the way of the store: that has no
container, no probe and no port more than without it.
*/}}
{{- define "targets.exporter" -}}
{{- $root := index . 0 -}}
{{- $of := list $root (index . 1) (index . 2) -}}
{{- $program := index . 3 -}}
{{- $exporter := index $root.Values.exporters (index . 4) -}}
{{ include "targets.replicas" $of }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "targets.metadata" $of | nindent 2 }}
spec:
  replicas: 1
  selector:
    matchLabels:
      {{- include "targets.selector" $of | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "targets.labels" $of | nindent 8 }}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: "8080"
    spec:
      {{- include "targets.pod" (list $root (index . 1) 65532) | nindent 6 }}
      containers:
        - name: exporter
          {{- include "targets.image" (list $root $exporter.image) | nindent 10 }}
          command: [{{ $program }}]
          args: ["--web.listen-address=:8080"]
          env:
            {{- index . 5 | nindent 12 }}
          ports:
            - {name: http, containerPort: 8080}
          readinessProbe:
            httpGet: {path: /, port: http}
            periodSeconds: 2
          livenessProbe:
            httpGet: {path: /, port: http}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          resources:
            {{- toYaml $exporter.resources | nindent 12 }}
          {{- include "targets.container" $root | nindent 10 }}
{{- include "targets.monitor" $of }}
{{- end }}

{{/* That of the Redis of a target: (list $ "shortener"). */}}
{{- define "targets.redis-exporter" -}}
{{- $env := printf "- {name: REDIS_ADDR, value: \"%s-redis:6379\"}\n%s" (include "targets.name" .) (include "targets.password" (list "REDIS_PASSWORD" (include "targets.secret" .) "redis-password")) -}}
{{ include "targets.exporter" (concat . (list "redis-exporter" "/redis_exporter" "redis" $env)) }}
{{- end }}
