{{/* Nginx before the replicas of a target, and its front door: (list $ "ratelimiter"). */}}
{{- define "targets.nginx" -}}
{{- $root := index . 0 -}}
{{- $of := append . "nginx" -}}
{{- $nginx := $root.Values.nginx -}}
{{- $target := index $root.Values (index . 1) -}}
{{- $service := $target.service -}}
{{- $outside := eq $service.type "LoadBalancer" -}}
{{- $forwardedFor := ternary "$remote_addr" "$proxy_add_x_forwarded_for" $outside -}}
{{- $conf := tpl ($root.Files.Get "files/nginx.conf") (dict "Template" $root.Template "nginx" $nginx "forwardedFor" $forwardedFor "grpc" ($service.grpcPort | int) "replicas" (printf "%s-app" (include "targets.name" .))) -}}
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "targets.metadata" $of | nindent 2 }}
data:
  nginx.conf: |
    {{- $conf | nindent 4 }}
---
{{ include "targets.entry" $of }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "targets.metadata" $of | nindent 2 }}
spec:
  # One, as in the seed: what is measured is the replicas behind it.
  replicas: 1
  selector:
    matchLabels:
      {{- include "targets.selector" $of | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "targets.labels" $of | nindent 8 }}
      annotations:
        checksum/config: {{ $conf | sha256sum }}
    spec:
      {{- include "targets.pod" (append . 65532) | nindent 6 }}
      # Longer than a replica may take to answer what is in flight (proxy_read_timeout).
      terminationGracePeriodSeconds: {{ add $target.shutdownDelaySeconds 25 }}
      containers:
        - name: nginx
          {{- include "targets.image" (list $root $nginx.image) | nindent 10 }}
          # Said in full, so that any image with nginx in its PATH will do. -e
          # is for what goes wrong before the configuration is read.
          command: [nginx]
          args: [-e, stderr, -c, /etc/targets/nginx.conf, -g, "daemon off;"]
          ports:
            - {name: http, containerPort: 8080}
            {{- if $service.grpcPort | int }}
            - {name: grpc, containerPort: 9090}
            {{- end }}
            - {name: status, containerPort: 8081}
          lifecycle:
            preStop:
              # Told to end, Nginx accepts no connection any more: first the Service
              # must have stopped sending new ones.
              exec: {command: [sleep, "{{ $target.shutdownDelaySeconds }}"]}
          readinessProbe:
            httpGet: {path: /healthz, port: status}
            periodSeconds: 2
          livenessProbe:
            httpGet: {path: /healthz, port: status}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          resources:
            {{- toYaml $nginx.resources | nindent 12 }}
          {{- include "targets.container" $root | nindent 10 }}
          volumeMounts:
            - {name: config, mountPath: /etc/targets, readOnly: true}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: config
          configMap:
            name: {{ include "targets.name" . }}-nginx
        - name: tmp
          emptyDir: {}
{{- end }}
