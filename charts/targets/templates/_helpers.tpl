{{/* The name from which every object of the rate limiter takes its own. */}}
{{- define "ratelimiter.name" -}}
{{ .Values.ratelimiter.service.name }}
{{- end }}

{{/* Labels that select the pods of one component: (list $ "app"). */}}
{{- define "ratelimiter.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: ratelimiter
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* All labels of an object of one component: (list $ "app"). */}}
{{- define "ratelimiter.labels" -}}
{{- $root := index . 0 -}}
{{ include "ratelimiter.selector" . }}
app.kubernetes.io/part-of: loadtest-targets
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* An image: (list $ .Values.redis.image). */}}
{{- define "targets.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
image: {{ printf "%s:%s" $image.repository ($image.tag | default $root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end }}

{{/*
What the restricted Pod Security Standard asks of a pod, with the user that owns
nothing in any image. No target talks to the API server, so that none has a
token; and no Service may inject variables that a target would read as settings.
*/}}
{{- define "targets.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* What it asks of a container. */}}
{{- define "targets.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Where the pods of a target may run: (list $ .Values.ratelimiter). */}}
{{- define "targets.placement" -}}
{{- $target := index . 1 -}}
{{- with $target.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $target.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
