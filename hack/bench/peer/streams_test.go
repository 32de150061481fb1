package peer

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestStreamsAreOpenedByScripts(t *testing.T) {
	l := StreamLoad{Script: "/a/x", URL: "http://127.0.0.1:1", Streams: 1000, Events: 61}
	same.As(t, "k6", Invocation{Args: append(k6Args[:len(k6Args):len(k6Args)], "-e", "TARGET=http://127.0.0.1:1", "-e", "STREAMS=1000", "/a/x")}, K6Streams(l))
	same.As(t, "guidellm", Invocation{Args: []string{"/a/x", "http://127.0.0.1:1", "1000", "61"}}, GuidellmStreams(l))
	same.As(t, "Python", Invocation{Args: []string{"/a/x", "httpx", "http://127.0.0.1:1", "1000"}}, PythonStreams("httpx", l))
}
