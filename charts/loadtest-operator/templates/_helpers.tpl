{{/* The name that all objects begin with: the release's, which says the chart's. */}}
{{- define "loadtest-operator.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 22 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{/* The labels by which Services and the Deployment find the operator's pods. */}}
{{- define "loadtest-operator.selector" -}}
app.kubernetes.io/name: loadtest-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "loadtest-operator.labels" -}}
{{ include "loadtest-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* An image by a dict of image and root. A tag is another image than that of the digest. */}}
{{- define "loadtest-operator.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- if and .image.digest (not .image.tag) }}@{{ .image.digest }}{{ end }}
{{- end -}}

{{/* The port of /metrics. */}}
{{- define "loadtest-operator.metricsPort" -}}
{{ ternary 8443 8080 .Values.metrics.secure }}
{{- end -}}

{{/* The subject of every binding. */}}
{{- define "loadtest-operator.subject" -}}
- kind: ServiceAccount
  name: {{ include "loadtest-operator.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{/*
Metadata of what helm test creates. Its labels are not those by which Services and the
Deployment find the operator's pods.
*/}}
{{- define "loadtest-operator.test" -}}
name: {{ include "loadtest-operator.name" . }}-test
namespace: {{ .Release.Namespace }}
labels:
  {{- include "loadtest-operator.labels" . | replace "name: loadtest-operator" "name: loadtest-operator-test" | nindent 2 }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-weight: "-1"
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
