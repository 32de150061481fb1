{{/* An image: (list $ .Values.redis.image). */}}
{{- define "targets.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
image: {{ printf "%s:%s" $image.repository ($image.tag | default $root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end }}

{{/*
What every pod of a target has, with its user: (list $ "shortener" 65532). It is
what the restricted Pod Security Standard asks. No target calls the API server,
so that none has a token; and no Service may inject variables that a target would
read as settings. 65532 is a user that owns nothing in any image.
*/}}
{{- define "targets.pod" -}}
{{- $root := index . 0 -}}
{{- $target := index $root.Values (index . 1) -}}
{{- $uid := index . 2 | int64 -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $target.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $target.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ $uid }}
  runAsGroup: {{ $uid }}
  fsGroup: {{ $uid }}
  # A volume with much in it is not walked through at every start.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* What that standard asks of a container, and a root that is read-only. */}}
{{- define "targets.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Pods of a component on as many nodes as there are. */}}
{{- define "targets.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "targets.selector" . | nindent 8 }}
{{- end }}

{{/* What a service answers to the kubelet. */}}
{{- define "targets.probes" -}}
readinessProbe:
  httpGet: {path: /ready, port: http}
  periodSeconds: 2
  timeoutSeconds: 2
livenessProbe:
  httpGet: {path: /health, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{/*
The aim of Go's collector as a variable: 90 % of the limit on memory, which leaves
room for stacks and for pages that are being freed. Given the resources.
*/}}
{{- define "targets.gomemlimit" -}}
{{- $limit := dig "limits" "memory" "" . | toString -}}
{{- if regexMatch "^[0-9]+Mi$" $limit }}
- {name: GOMEMLIMIT, value: "{{ div (mul (trimSuffix "Mi" $limit | int64) 9) 10 }}MiB"}
{{- else if regexMatch "^[0-9]+Gi$" $limit }}
- {name: GOMEMLIMIT, value: "{{ div (mul (trimSuffix "Gi" $limit | int64) 9216) 10 }}MiB"}
{{- end }}
{{- end }}

{{/* A password as a variable: (list "REDIS_PASSWORD" SECRET KEY). */}}
{{- define "targets.password" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef: {name: {{ index . 1 }}, key: {{ index . 2 }}}
{{- end }}

{{/* The budget of a component of several pods: (list $ "shortener" "app" REPLICAS). */}}
{{- define "targets.budget" -}}
{{- if gt (index . 3 | int) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "targets.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  # One that is not ready is of no use to a test, and blocks no drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "targets.selector" . | nindent 6 }}
{{- end }}
{{- end }}
