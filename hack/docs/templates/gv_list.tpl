{{- define "gvList" -}}
<!-- Written by make generate. The text stands at the Go types. -->
# {{ markdownTemplateValue "title" }}

Every type, in alphabetical order: begin at [{{ markdownTemplateValue "begin" }}](#{{ markdownTemplateValue "begin" | lower }}).
A rule is what the API server checks beside the bounds of single fields.
{{ range . -}}
{{ range .SortedTypes }}{{ if or .Members .EnumValues .Validation }}{{ template "type" . }}{{ end }}{{ end }}
{{- end -}}
{{- end -}}
