# The images of our own binaries, for those who have Docker and a registry:
#
#   docker build --target operator    -t REGISTRY/operator:TAG .
#   docker build --target worker      -t REGISTRY/worker:TAG .
#   docker build --target ratelimiter -t REGISTRY/ratelimiter:TAG .
#   docker build --target shortener   -t REGISTRY/shortener:TAG .
#   docker build --target eventstore  -t REGISTRY/eventstore:TAG .
#   docker build --target tokens      -t REGISTRY/tokens:TAG .
#   docker build --target counter     -t REGISTRY/counter:TAG .
#   docker build --target hostile     -t REGISTRY/hostile:TAG .
#   docker build --target kubectl-loadtest -t REGISTRY/kubectl-loadtest:TAG .
#
# They hold the same files, user and entrypoint as those of hack/images, which
# needs neither.

FROM --platform=$BUILDPLATFORM golang:1.26 AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH
ENV CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOFLAGS="-trimpath -buildvcs=false"
RUN mkdir -p /base/etc/ssl/certs /base/tmp \
 && chmod 1777 /base/tmp \
 && cp /etc/ssl/certs/ca-certificates.crt /base/etc/ssl/certs/ \
 && printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n' > /base/etc/passwd \
 && printf 'root:x:0:\nnonroot:x:65532:\n' > /base/etc/group

FROM source AS build-operator
RUN go build -ldflags="-s -w" -o /manager ./cmd

FROM source AS build-worker
RUN go build -ldflags="-s -w" -o /loadworker ./loadworker

FROM source AS build-kubectl-loadtest
RUN go build -ldflags="-s -w" -o /kubectl-loadtest ./cmd/kubectl-loadtest

FROM source AS build-ratelimiter
RUN go build -ldflags="-s -w" -o /ratelimiter ./targets/ratelimiter/cmd/ratelimiter

FROM source AS build-shortener
RUN go build -ldflags="-s -w" -o /shortener ./targets/shortener/cmd/shortener

FROM source AS build-eventstore
RUN go build -ldflags="-s -w" -o /eventstore ./targets/eventstore/cmd/eventstore

FROM source AS build-tokens
RUN go build -ldflags="-s -w" -o /tokens ./targets/tokens/cmd/tokens

FROM source AS build-counter
RUN go build -ldflags="-s -w" -o /counter ./test/e2e/counter

FROM source AS build-hostile
RUN go build -ldflags="-s -w" -o /hostile ./test/e2e/hostile

FROM scratch AS base
COPY --from=source /base /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 65532:65532

FROM base AS worker
COPY --from=build-worker /loadworker /loadworker
ENTRYPOINT ["/loadworker"]

FROM base AS kubectl-loadtest
COPY --from=build-kubectl-loadtest /kubectl-loadtest /kubectl-loadtest
ENTRYPOINT ["/kubectl-loadtest"]

FROM base AS ratelimiter
COPY --from=build-ratelimiter /ratelimiter /ratelimiter
ENTRYPOINT ["/ratelimiter"]

FROM base AS shortener
COPY --from=build-shortener /shortener /shortener
ENTRYPOINT ["/shortener"]

FROM base AS eventstore
COPY --from=build-eventstore /eventstore /eventstore
ENTRYPOINT ["/eventstore"]

FROM base AS tokens
COPY --from=build-tokens /tokens /tokens
ENTRYPOINT ["/tokens"]

FROM base AS counter
COPY --from=build-counter /counter /counter
ENTRYPOINT ["/counter"]

FROM base AS hostile
COPY --from=build-hostile /hostile /hostile
ENTRYPOINT ["/hostile"]

# Last, so that a build without --target makes the operator.
FROM base AS operator
COPY --from=build-operator /manager /manager
ENTRYPOINT ["/manager"]
