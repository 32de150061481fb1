{{- define "gvDetails" -}}{{- end -}}
