package measure

// Outcome is what became of a sent request. Every sent request has exactly one.
type Outcome uint8

const (
	// Success is an expected response of any other status than those of RateLimited.
	Success Outcome = iota
	// RateLimited is a response of status 429, or RESOURCE_EXHAUSTED of gRPC, expected or
	// not.
	RateLimited
	// ClientError is an unexpected 4xx other than 429, or a status of gRPC that means one.
	ClientError
	// ServerError is an unexpected 5xx, or a status of gRPC that means one.
	ServerError
	// UnexpectedStatus is an unexpected response of any other status.
	UnexpectedStatus
	// Timeout is no whole response in time, or an unexpected DEADLINE_EXCEEDED of gRPC.
	Timeout
	// Refused is a refused connection, or a request of HTTP/2 that the server says that it
	// has not processed.
	Refused
	// Reset is a connection reset or closed before the response was whole.
	Reset
	// DNS is a host name that did not resolve.
	DNS
	// TLS is a failed handshake or certificate.
	TLS
	// BadResponse is bytes that are no response of HTTP or gRPC, or one of an expected
	// status with a body other than expected.
	BadResponse
	// Unfinished is a request in flight, or cut at the end of its step.
	Unfinished
	// Other is any other failure.
	Other
	// BrokenOff is a stream whose connection was reset or closed after its first event.
	BrokenOff
	// Stalled is a stream of which no event came for longer than it may.
	Stalled
	// EndedEarly is a stream that ended without its last event, or without any.
	EndedEarly

	// NumOutcomes is the number of classes.
	NumOutcomes = int(EndedEarly) + 1
)

var outcomeNames = [NumOutcomes]string{
	"success", "rateLimited", "clientError", "serverError", "unexpectedStatus",
	"timeout", "refused", "reset", "dns", "tls", "badResponse", "unfinished", "other",
	"brokenOff", "stalled", "endedEarly",
}

// String is the class's name as the API spells it.
func (o Outcome) String() string {
	if int(o) >= NumOutcomes {
		return "invalid"
	}
	return outcomeNames[o]
}

// Responded says whether the class has a whole response behind it.
func (o Outcome) Responded() bool { return o <= UnexpectedStatus }

// ClassifyStatus is the class of a whole response, given whether its status, of HTTP or of
// gRPC, was expected.
func ClassifyStatus(status int, expected bool) Outcome {
	switch {
	case IsGRPC(status):
		return classifyGRPC(status, expected)
	case status == 429:
		return RateLimited
	case expected:
		return Success
	case status >= 400 && status <= 499:
		return ClientError
	case status >= 500 && status <= 599:
		return ServerError
	default:
		return UnexpectedStatus
	}
}

// MinStatus and MaxStatus bound what a response of HTTP may have for a status code.
const (
	MinStatus = 100
	MaxStatus = 999
)

// IsRedirect says whether a status of HTTP sends the client elsewhere.
func IsRedirect(status int) bool {
	switch status {
	case 300, 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// StatusCodes counts whole responses by their status code.
type StatusCodes map[int]int64

// Sum is how many responses there are.
func (c StatusCodes) Sum() int64 {
	var sum int64
	for _, n := range c {
		sum += n
	}
	return sum
}
