{{- define "text" -}}
{{ . | replace "\\" "\\\\" | replace "\n" " " | replace "|" "\\|" | replace "<" "&lt;" | replace "*" "\\*" | replace "_" "\\_" | replace "`" "\\`" | trim }}
{{- end -}}
{{- define "bounds" -}}
{{- range . }}{{ if not (or (hasPrefix "Optional" .) (hasPrefix "Required" .) (hasPrefix "Schemaless" .) (hasPrefix "Type:" .)) }}; {{ . | replace "|" "\\|" }}{{ end }}{{ end -}}
{{- end -}}
{{- /* The rules of a field's type stand with the type. */ -}}
{{- define "rules" -}}
{{- $of := list }}{{ with .Type }}{{ $of = concat $of (default list (index .Markers "kubebuilder:validation:XValidation")) }}{{ with .UnderlyingType }}{{ $of = concat $of (default list (index .Markers "kubebuilder:validation:XValidation")) }}{{ end }}{{ end -}}
{{- range index .Markers "kubebuilder:validation:XValidation" }}{{ if not (has . $of) }} _Rule: {{ template "text" .Message }}._{{ end }}{{ end -}}
{{- end -}}
{{- define "type_members" -}}
| `{{ .Name }}` | {{ markdownRenderType .Type }}{{ if has "Required: {}" .Validation }}, required{{ end }}{{ if .Default }}; default `{{ .Default }}`{{ end }}{{ template "bounds" .Validation }} | {{ template "text" .Doc }}{{ template "rules" . }} |
{{ end -}}
