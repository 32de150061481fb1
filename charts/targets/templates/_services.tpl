{{/*
The front door of a target, which leads to one of its components:
(list $ "shortener" "app").
*/}}
{{- define "targets.entry" -}}
{{- $root := index . 0 -}}
{{- $service := (index $root.Values (index . 1)).service -}}
apiVersion: v1
kind: Service
metadata:
  # Not of the component: its own Service is, and Prometheus reads each pod once.
  {{- include "targets.front" (list $root (index . 1) "front") | nindent 2 }}
spec:
  type: {{ $service.type }}
  selector:
    {{- include "targets.selector" . | nindent 4 }}
  ports:
    - name: http
      port: {{ $service.port }}
      targetPort: http
    {{- with $service.grpcPort | int }}
    - name: grpc
      port: {{ . }}
      targetPort: grpc
      appProtocol: kubernetes.io/h2c
    {{- end }}
{{- end }}

{{/* The Service of the pods of a component that answer HTTP, and gRPC, themselves. */}}
{{- define "targets.replicas" -}}
{{- $root := index . 0 -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "targets.metadata" . | nindent 2 }}
spec:
  selector:
    {{- include "targets.selector" . | nindent 4 }}
  ports:
    - name: http
      port: 8080
      targetPort: http
    {{- if and (eq (index . 2) "app") ((index $root.Values (index . 1)).service.grpcPort | int) }}
    - name: grpc
      port: 9090
      targetPort: grpc
      appProtocol: kubernetes.io/h2c
    {{- end }}
{{- end }}

{{/* The ServiceMonitor of that Service, if enabled. */}}
{{- define "targets.monitor" -}}
{{- $root := index . 0 -}}
{{- $values := $root.Values.serviceMonitor -}}
{{- if and $values.enabled ($root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "targets.name" . }}-{{ index . 2 }}
  labels:
    {{- merge (dict) $values.labels (include "targets.labels" . | fromYaml) | toYaml | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- include "targets.selector" . | nindent 6 }}
  endpoints:
    - port: http
      interval: {{ $values.interval }}
{{- end }}
{{- end }}

{{/*
The NetworkPolicy of a component: (list $ "shortener" "postgres" PORTS CALLERS PEERS), of
which the ports have commas between them, the callers are components of the same
target, and the peers any others, as in a NetworkPolicy. Without callers and peers
the policy has no rule.
*/}}
{{- define "targets.policy" -}}
{{- $root := index . 0 -}}
{{- $target := index . 1 -}}
{{- $callers := index . 4 -}}
{{- $peers := index . 5 -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "targets.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "targets.selector" . | nindent 6 }}
  policyTypes: [Ingress]
  {{- if or $callers $peers }}
  ingress:
    - ports:
        {{- range index . 3 | splitList "," }}
        - port: {{ . }}
        {{- end }}
      from:
        {{- range $callers }}
        - podSelector:
            matchLabels:
              {{- include "targets.selector" (list $root $target .) | nindent 14 }}
        {{- end }}
        {{- with $peers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- end }}
{{- end }}

{{/*
What helm test runs: the target's own check, against its front door. (list $
"eventstore" ENVIRONMENT), of which the last is YAML.
*/}}
{{- define "targets.test" -}}
{{- $root := index . 0 -}}
{{- $target := index . 1 -}}
{{- $of := list $root $target "test" -}}
apiVersion: v1
kind: Pod
metadata:
  {{- include "targets.metadata" $of | nindent 2 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  restartPolicy: Never
  {{- include "targets.pod" (list $root $target 65532) | nindent 2 }}
  containers:
    - name: check
      {{- include "targets.image" (list $root (index $root.Values $target).image) | nindent 6 }}
      command: [/{{ $target }}]
      args: [check, --url, {{ include "targets.url" (list $root $target) | quote }}]
      {{- with index . 2 }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      resources:
        requests: {cpu: 10m, memory: 16Mi}
        limits: {memory: 64Mi}
      {{- include "targets.container" $root | nindent 6 }}
{{- end }}
