package measure

import "strconv"

// grpcStatuses are the statuses of gRPC by number, each with the status of HTTP that means
// the same (google.rpc.Code). They are numbers that no response of HTTP has.
var grpcStatuses = [...]struct {
	name string
	http int
}{
	{"OK", 200}, {"CANCELLED", 499}, {"UNKNOWN", 500}, {"INVALID_ARGUMENT", 400}, {"DEADLINE_EXCEEDED", 504},
	{"NOT_FOUND", 404}, {"ALREADY_EXISTS", 409}, {"PERMISSION_DENIED", 403}, {"RESOURCE_EXHAUSTED", 429},
	{"FAILED_PRECONDITION", 400}, {"ABORTED", 409}, {"OUT_OF_RANGE", 400}, {"UNIMPLEMENTED", 501},
	{"INTERNAL", 500}, {"UNAVAILABLE", 503}, {"DATA_LOSS", 500}, {"UNAUTHENTICATED", 401},
}

// The statuses of gRPC that are not treated as all others are.
const (
	GRPCOK                = 0
	GRPCCancelled         = 1
	GRPCDeadlineExceeded  = 4
	GRPCNotFound          = 5
	GRPCResourceExhausted = 8
	GRPCUnimplemented     = 12
	// MaxGRPC is the last of them.
	MaxGRPC = len(grpcStatuses) - 1
)

// IsGRPC says whether a status code is one of gRPC.
func IsGRPC(status int) bool { return status >= 0 && status <= MaxGRPC }

// IsStatus says whether a whole response can have a status code.
func IsStatus(status int) bool {
	return IsGRPC(status) || status >= MinStatus && status <= MaxStatus
}

// GRPCStatus is the status of gRPC of a name, such as NOT_FOUND.
func GRPCStatus(name string) (status int, ok bool) {
	for i := range grpcStatuses {
		if grpcStatuses[i].name == name {
			return i, true
		}
	}
	return 0, false
}

// StatusName is a status code as reports have it: 404, or NOT_FOUND of gRPC.
func StatusName(status int) string {
	if IsGRPC(status) {
		return grpcStatuses[status].name
	}
	return strconv.Itoa(status)
}

// HTTPStatus is the status code of HTTP that means the same.
func HTTPStatus(status int) int {
	if IsGRPC(status) {
		return grpcStatuses[status].http
	}
	return status
}

// IsRateLimited says whether a status is that of a request that comes too early.
func IsRateLimited(status int) bool { return HTTPStatus(status) == 429 }

// classifyGRPC is the class of a status of gRPC. A deadline that has passed has one class,
// whichever side noticed it first.
func classifyGRPC(status int, expected bool) Outcome {
	if status == GRPCDeadlineExceeded && !expected {
		return Timeout
	}
	return ClassifyStatus(HTTPStatus(status), expected)
}
