module github.com/loadtest-dev/loadtest-operator/hack/tools/protoc-gen-go-grpc

go 1.26

tool google.golang.org/grpc/cmd/protoc-gen-go-grpc

require (
	google.golang.org/grpc/cmd/protoc-gen-go-grpc v1.5.1 // indirect
	google.golang.org/protobuf v1.34.1 // indirect
)
