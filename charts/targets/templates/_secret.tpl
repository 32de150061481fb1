{{/*
A password that lasts as long as the release: what its Secret has, or a new one.
(list $ SECRET KEY)
*/}}
{{- define "targets.generated" -}}
{{- $root := index . 0 -}}
{{- $secret := lookup "v1" "Secret" $root.Release.Namespace (index . 1) | default dict -}}
{{- get ($secret.data | default dict) (index . 2) | b64dec | default (randAlphaNum 32) -}}
{{- end }}

{{/* The Secret of a target: the given one, or the chart's. (list $ "shortener") */}}
{{- define "targets.secret" -}}
{{- $root := index . 0 -}}
{{- (index $root.Values (index . 1)).existingSecret | default (include "targets.name" .) -}}
{{- end }}

{{/*
The Secret of the event store: the given one, or the chart's. LoadTests may use those whose names
begin with loadtest-. (list $ "eventstore")
*/}}
{{- define "targets.apiKeys" -}}
{{- (index . 0).Values.eventstore.existingSecret | default (printf "loadtest-%s" (include "targets.name" .)) -}}
{{- end }}
