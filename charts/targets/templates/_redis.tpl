{{/*
The Redis of a target: (list $ "ratelimiter" OPTIONS), of which policy is what it
does when its memory is full, and durable whether it must find again what it had
when its process ends.
*/}}
{{- define "targets.redis" -}}
{{- $root := index . 0 -}}
{{- $options := index . 2 -}}
{{- $of := list $root (index . 1) "redis" -}}
{{- $redis := $root.Values.redis -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "targets.metadata" $of | nindent 2 }}
spec:
  selector:
    {{- include "targets.selector" $of | nindent 4 }}
  ports:
    - name: redis
      port: 6379
      targetPort: redis
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "targets.metadata" $of | nindent 2 }}
spec:
  replicas: 1
  # Never two at a time: half of the clients would meet an empty one.
  strategy:
    type: Recreate
  selector:
    matchLabels:
      {{- include "targets.selector" $of | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "targets.labels" $of | nindent 8 }}
    spec:
      {{- include "targets.pod" (append (initial $of) 65532) | nindent 6 }}
      containers:
        - name: redis
          {{- include "targets.image" (list $root $redis.image) | nindent 10 }}
          command: [redis-server]
          args:
            # The password, which a command line would show.
            - /etc/redis/redis.conf
            - --save
            - ""
            - --appendonly
            - {{ ternary "yes" "no" $options.durable | quote }}
            - --dir
            - /data
            - --maxmemory
            - {{ $redis.maxmemory | quote }}
            - --maxmemory-policy
            - {{ $options.policy }}
          ports:
            - {name: redis, containerPort: 6379}
          startupProbe:
            tcpSocket: {port: redis}
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            tcpSocket: {port: redis}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          resources:
            {{- toYaml $redis.resources | nindent 12 }}
          {{- include "targets.container" $root | nindent 10 }}
          volumeMounts:
            - {name: secret, mountPath: /etc/redis, readOnly: true}
            - {name: data, mountPath: /data}
      volumes:
        - name: secret
          secret:
            secretName: {{ include "targets.secret" (initial $of) }}
            items:
              - {key: redis.conf, path: redis.conf}
        - name: data
          emptyDir: {}
{{- end }}
