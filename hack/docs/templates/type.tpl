{{- define "type" }}
## {{ .Name }}
{{ if .GVK }}
`apiVersion: {{ .GVK.Group }}/{{ .GVK.Version }}`, `kind: {{ .GVK.Kind }}`
{{ end }}
{{ .Doc }}
{{ if .IsAlias }}
A value of type {{ markdownRenderType .UnderlyingType }}{{ template "bounds" .Validation }}.
{{ end }}
{{- range $i, $rule := index .Markers "kubebuilder:validation:XValidation" }}
{{ if not $i }}Rules:

{{ end }}- {{ template "text" $rule.Message }}
{{- end }}
{{ if .References }}
Part of {{ range $i, $t := .SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $t }}{{ end }}.
{{ end }}
{{- if .Members }}
| field | type | meaning |
| --- | --- | --- |
{{ range .Members }}{{ template "type_members" . }}{{ end }}
{{- end }}
{{- if .EnumValues }}
| value | meaning |
| --- | --- |
{{ range .EnumValues }}| `{{ .Name }}` | {{ template "text" (regexReplaceAll "^[A-Z]\\w+ " .Doc "") }} |
{{ end }}
{{- end }}
{{- end -}}
