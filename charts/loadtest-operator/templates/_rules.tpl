{{/*
The operator's rights, which follow from the markers in controllers; a
test compares them with config/rbac/role.yaml, which is generated from those.

Where LoadTests are: in every namespace, or in each of watchNamespaces.
*/}}
{{- define "loadtest-operator.testRules" -}}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create, get]
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
{{- if .Values.environment.enabled }}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
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
- apiGroups: [apps]
  resources: [controllerrevisions, daemonsets, deployments, statefulsets]
  verbs: [get]
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
