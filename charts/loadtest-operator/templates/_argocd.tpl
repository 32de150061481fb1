{{/* Argo CD's ConfigMap, with nothing in it but what we add: applied by the server side it
     leaves everything else as it is. The scripts are in files/argocd. */}}
{{- define "loadtest-operator.argocd-cm" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
  namespace: {{ .Values.argocd.namespace }}
  labels:
    app.kubernetes.io/name: argocd-cm
    app.kubernetes.io/part-of: argocd
data:
{{- range $kind := list "LoadTest" "LoadTestSchedule" }}
{{- $folder := printf "files/argocd/%s" $kind }}
  resource.customizations.health.loadtest.dev_{{ $kind }}: |
    {{- $.Files.Get (printf "%s/health.lua" $folder) | trim | nindent 4 }}
  resource.customizations.actions.loadtest.dev_{{ $kind }}: |
    discovery.lua: |
      {{- $.Files.Get (printf "%s/actions/discovery.lua" $folder) | trim | nindent 6 }}
    definitions:
{{- range $path, $_ := $.Files.Glob (printf "%s/actions/*.lua" $folder) }}
{{- $name := base $path | trimSuffix ".lua" }}
{{- if ne $name "discovery" }}
      - name: {{ $name }}
        action.lua: |
          {{- $.Files.Get $path | trim | nindent 10 }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
