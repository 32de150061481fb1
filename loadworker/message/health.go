package message

import (
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// HealthCheck is the method Check of the health service of gRPC, by its own descriptors.
func HealthCheck() *Method {
	service := grpc_health_v1.File_grpc_health_v1_health_proto.Services().ByName("Health")
	check := service.Methods().ByName("Check")
	return &Method{
		name:    string(service.FullName()) + "/" + string(check.Name()),
		request: check.Input(), reply: check.Output(), types: dynamicpb.NewTypes(new(protoregistry.Files)),
	}
}
