{{/*
Every target is a map of values with the name that is given here, and every
object belongs to one of its components: (list $ "ratelimiter" "redis").
*/}}

{{/* The name from which every object of a target takes its own: (list $ "ratelimiter"). */}}
{{- define "targets.name" -}}
{{- $root := index . 0 -}}
{{- (index $root.Values (index . 1)).service.name -}}
{{- end }}

{{/* Labels that select the pods of a component. */}}
{{- define "targets.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 2 }}
{{- end }}

{{/*
All labels of an object of a component. Common ones replace the chart's, but not those that
select; none is there twice, which post-renderers refuse.
*/}}
{{- define "targets.labels" -}}
{{- $root := index . 0 -}}
{{- $chart := printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" -}}
{{- $own := dict "app.kubernetes.io/part-of" "loadtest-targets" "app.kubernetes.io/managed-by" $root.Release.Service "helm.sh/chart" $chart -}}
{{ include "targets.selector" . }}
{{ toYaml (merge (dict) $root.Values.commonLabels $own) }}
{{- end }}

{{/* Name and labels of an object that is named after its component. */}}
{{- define "targets.metadata" -}}
name: {{ include "targets.name" . }}-{{ index . 2 }}
labels:
  {{- include "targets.labels" . | nindent 2 }}
{{- end }}

{{/* The same for an object that is named after its target: its front door, its Secret. */}}
{{- define "targets.front" -}}
name: {{ include "targets.name" . }}
labels:
  {{- include "targets.labels" . | nindent 2 }}
{{- end }}

{{/* Where clients of a target find it: (list $ "ratelimiter"). */}}
{{- define "targets.url" -}}
{{- $root := index . 0 -}}
{{- $port := (index $root.Values (index . 1)).service.port | int -}}
http://{{ include "targets.name" . }}.{{ $root.Release.Namespace }}{{ if ne $port 80 }}:{{ $port }}{{ end }}
{{- end }}
