package measure

import "testing"

// The names and numbers are those of gRPC's documentation (statuscodes.md), and the classes
// those of docs/grpc.md.
func TestStatusesOfGRPC(t *testing.T) {
	tests := []struct {
		name       string
		unexpected Outcome
		rateLimit  bool
	}{
		{"OK", UnexpectedStatus, false}, {"CANCELLED", ClientError, false}, {"UNKNOWN", ServerError, false},
		{"INVALID_ARGUMENT", ClientError, false}, {"DEADLINE_EXCEEDED", Timeout, false}, {"NOT_FOUND", ClientError, false},
		{"ALREADY_EXISTS", ClientError, false}, {"PERMISSION_DENIED", ClientError, false}, {"RESOURCE_EXHAUSTED", RateLimited, true},
		{"FAILED_PRECONDITION", ClientError, false}, {"ABORTED", ClientError, false}, {"OUT_OF_RANGE", ClientError, false},
		{"UNIMPLEMENTED", ServerError, false}, {"INTERNAL", ServerError, false}, {"UNAVAILABLE", ServerError, false},
		{"DATA_LOSS", ServerError, false}, {"UNAUTHENTICATED", ClientError, false},
	}
	if len(tests) != MaxGRPC+1 {
		t.Fatalf("%d statuses, want %d", MaxGRPC+1, len(tests))
	}
	for status, tt := range tests {
		expected := Success
		if tt.rateLimit {
			expected = RateLimited
		}
		if got := ClassifyStatus(status, false); got != tt.unexpected {
			t.Errorf("%s, unexpected, is classified as %v, want %v", tt.name, got, tt.unexpected)
		}
		if got := ClassifyStatus(status, true); got != expected {
			t.Errorf("%s, expected, is classified as %v, want %v", tt.name, got, expected)
		}
		if got, ok := GRPCStatus(tt.name); !ok || got != status || StatusName(status) != tt.name || IsRateLimited(status) != tt.rateLimit {
			t.Errorf("status %d is called %s and rate-limited: %v; %s is %d, %v", status, StatusName(status), IsRateLimited(status), tt.name, got, ok)
		}
	}
}

func TestStatusCodesOfHTTPAreNotThoseOfGRPC(t *testing.T) {
	for status, want := range map[int]bool{-1: false, 0: true, 16: true, 17: false, 99: false, 100: true, 999: true, 1000: false} {
		if got := IsStatus(status); got != want {
			t.Errorf("IsStatus(%d) = %v", status, got)
		}
	}
	if _, ok := GRPCStatus("404"); ok || StatusName(404) != "404" || HTTPStatus(404) != 404 || IsRateLimited(404) || !IsRateLimited(429) {
		t.Error("a status of HTTP is taken for one of gRPC")
	}
}
