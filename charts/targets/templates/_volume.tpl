{{/*
Where a component keeps its data, under the name data: a claim of a StatefulSet, or
a folder that is there as long as the pod. Both are given the values of persistence.
*/}}
{{- define "targets.claims" -}}
{{- if .enabled }}
# A claim that outlived its release would hold another release's password.
persistentVolumeClaimRetentionPolicy:
  whenDeleted: Delete
  whenScaled: Retain
volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .storageClassName }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests:
          storage: {{ .size }}
{{- end }}
{{- end }}

{{- define "targets.data" -}}
{{- if not .enabled }}
- name: data
  emptyDir: {}
{{- end }}
{{- end }}
