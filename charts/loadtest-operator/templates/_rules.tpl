{{/*
The operator's rights, which follow from the markers in controllers; a
test compares them with config/rbac/role.yaml, which is generated from those. What a value asks
for is here and in config/rbac/optional alone.

Where LoadTests are: in every namespace, or in each of watchNamespaces.
*/}}
{{- define "loadtest-operator.testRules" -}}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create{{ if dig "results" nil (.Values.config | default dict) }}, get{{ end }}]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
{{- if .Values.environment.enabled }}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
{{- end }}
{{- if .Values.environment.usage }}
- apiGroups: [metrics.k8s.io]
  resources: [pods]
  verbs: [list]
{{- end }}
- apiGroups: [batch]
  resources: [jobs]
  verbs: [create, delete, get, list, watch]
- apiGroups: [""]
  resources: [namespaces, services]
  verbs: [get]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, list, patch]
{{- if .Values.rollouts.enabled }}
- apiGroups: [apps]
  resources: [controllerrevisions, daemonsets, deployments, statefulsets]
  verbs: [get]
{{- end }}
- apiGroups: [loadtest.dev]
  resources: [loadtests]
  verbs: [create, delete, get, list, watch]
- apiGroups: [loadtest.dev]
  resources: [loadtestschedules]
  verbs: [get, list, watch]
- apiGroups: [loadtest.dev]
  resources: [loadtests/status, loadtestschedules/status]
  verbs: [patch]
{{- end -}}

{{/*
In the whole cluster, in any case: workers and scrapers show tokens, which are not of a
namespace, and no host may lead to a node or to the API server.
*/}}
{{- define "loadtest-operator.clusterRules" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [list]
- apiGroups: [""]
  resources: [services]
  resourceNames: [kubernetes]
  verbs: [get]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  resourceNames: [kubernetes]
  verbs: [get]
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
{{- if .Values.metrics.secure }}
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- end -}}

{{/*
In the operator's own namespace: its configuration, the coordinator's certificate, and where
workers reach it; and its own pods and Services, to which no host may lead, where it may not
read those of every namespace.
*/}}
{{- define "loadtest-operator.ownRules" -}}
{{- $name := include "loadtest-operator.name" . -}}
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [{{ $name }}-config]
  verbs: [list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ $name }}-coordinator]
  verbs: [get, update]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [create]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  resourceNames: [{{ $name }}-leader]
  verbs: [patch]
{{- if .Values.watchNamespaces }}
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
- apiGroups: [""]
  resources: [services]
  verbs: [get]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
{{- end }}
{{- end -}}

{{/* A regular expression of CEL for a list of patterns, in which a * stands for any characters. */}}
{{- define "loadtest-operator.patterns" -}}
{{- $all := list -}}
{{- range . }}{{ $all = append $all (regexQuoteMeta . | replace "\\*" ".*") }}{{ end -}}
{{- printf "^(%s)$" (join "|" $all) | toJson -}}
{{- end -}}

{{/*
An expression of CEL: the names of what LoadTests of a namespace may use, by the field (secrets,
claims, labelKeys and the like) of the first of the rules in config.workers that names it; none of
the release's namespace, which are the operator's. Its argument is a list: the root, the field and
the names without a rule.
*/}}
{{- define "loadtest-operator.usableNames" -}}
{{- $root := index . 0 -}}
{{- $field := index . 1 -}}
{{- printf "request.namespace == %s ? %s : " (toJson $root.Release.Namespace) (include "loadtest-operator.patterns" list) -}}
{{- $default := rest (rest .) -}}
{{- $open := true -}}
{{- range dig "workers" nil ($root.Values.config | default dict) }}
{{- if $open }}
{{- $names := include "loadtest-operator.patterns" (ternary (get . $field) $default (kindIs "slice" (get . $field))) }}
{{- if .namespaces }}
{{- printf "request.namespace.matches(%s) ? %s : " (include "loadtest-operator.patterns" .namespaces) $names }}
{{- else }}
{{- $open = false }}
{{- $names }}
{{- end }}
{{- end }}
{{- end }}
{{- if $open }}{{ include "loadtest-operator.patterns" $default }}{{ end }}
{{- end -}}
