package peer

import (
	"fmt"
	"strconv"
	"strings"
)

// Load is what a peer is to send.
type Load struct {
	URL         string
	Connections int
	// Streams is how many requests are in flight on each connection; more than 1
	// takes HTTP/2.
	Streams int
	Seconds int
	// Requests is how many are sent in all, in the place of Seconds, by peers that can do
	// so; 0: as many as there is time for.
	Requests int
	// Call is what is called over gRPC.
	Call *Call
}

// Call is a unary call of gRPC.
type Call struct {
	// Service with its package, and Method.
	Service, Method string
	// Message is JSON.
	Message string
	// Descriptors is a file with the descriptor set of the service, and Frame one with the
	// message as it is sent: with its prefix.
	Descriptors, Frame string
}

// Invocation is how a peer is started.
type Invocation struct {
	Args []string
	// Stdin is its standard input, and Script a file whose name is the last
	// argument; both may be empty.
	Stdin  string
	Script string
}

func (l Load) connections() string { return strconv.Itoa(l.Connections) }
func (l Load) duration() string    { return fmt.Sprintf("%ds", l.Seconds) }

// address is the server's host and port.
func (l Load) address() string { return strings.TrimPrefix(l.URL, "http://") }

func wrk(l Load) Invocation {
	return Invocation{Args: []string{"-t1", "-c" + l.connections(), "-d" + l.duration(), l.URL}}
}

// h2load sends over HTTP/1.1 to a server that agrees to no HTTP/2, as vegeta and k6 do.
func h2load(l Load) Invocation {
	until := "-D" + strconv.Itoa(l.Seconds)
	if l.Requests > 0 { // it would wait for requests that are in flight at the end of the time, and not end
		until = "-n" + strconv.Itoa(l.Requests)
	}
	return Invocation{Args: []string{"-t1", "-c" + l.connections(), "-m" + strconv.Itoa(l.Streams), until, l.URL}}
}

// h2loadCalls sends the bytes of a call; what is answered is not looked at.
func h2loadCalls(l Load) Invocation {
	i := h2load(l)
	last := len(i.Args) - 1
	i.Args = append(i.Args[:last:last], "-d", l.Call.Frame, "-H", "content-type: application/grpc", "-H", "te: trailers",
		l.URL+"/"+l.Call.Service+"/"+l.Call.Method)
	return i
}

// ghz is started as its documentation does: it looks for templates in the message of each
// call. It has as many workers as there are streams in all, and waits for the replies to its
// last calls.
func ghz(l Load) Invocation {
	args := []string{
		"--insecure", "--protoset", l.Call.Descriptors, "--call", l.Call.Service + "." + l.Call.Method, "--data", l.Call.Message,
		"--connections", l.connections(), "--concurrency", strconv.Itoa(l.Connections * l.Streams),
	}
	if l.Requests > 0 {
		args = append(args, "--total", strconv.Itoa(l.Requests))
	} else {
		args = append(args, "--duration", l.duration(), "--duration-stop", "wait")
	}
	return Invocation{Args: append(args, l.address())}
}

// ghzWithoutTemplates is its fastest form: every message is the same.
func ghzWithoutTemplates(l Load) Invocation {
	i := ghz(l)
	i.Args = append([]string{"--disable-template-data", "--disable-template-functions"}, i.Args...)
	return i
}

func bombardier(l Load) Invocation {
	return Invocation{Args: []string{"--print", "r", "-c", l.connections(), "-d", l.duration(), l.URL}}
}

func hey(l Load) Invocation {
	return Invocation{Args: []string{"-c", l.connections(), "-z", l.duration(), l.URL}}
}

// vegeta without a rate and with as many workers as connections is a closed
// loop; its results go nowhere, as its report costs more than the load. Over HTTP/2 its workers
// share one connection, as long as there are no more of them than streams that the server allows:
// 128 with nginx.
func vegeta(l Load) Invocation {
	return Invocation{
		Args: []string{
			"attack", "-rate=0", "-workers=" + l.connections(), "-max-workers=" + l.connections(),
			"-duration=" + l.duration(), "-output=/dev/null",
		},
		Stdin: "GET " + l.URL + "\n",
	}
}

// VegetaAtRate is vegeta at a rate with a bound on its workers; its results go
// to a file for `vegeta report`.
func VegetaAtRate(url string, perSecond, workers, seconds int, output string) Invocation {
	return Invocation{
		Args: []string{
			"attack", fmt.Sprintf("-rate=%d", perSecond), fmt.Sprintf("-workers=%d", workers),
			fmt.Sprintf("-max-workers=%d", workers), fmt.Sprintf("-duration=%ds", seconds), "-output=" + output,
		},
		Stdin: "GET " + url + "\n",
	}
}

const k6Script = `import http from 'k6/http';
export const options = { vus: %d, duration: '%s', discardResponseBodies: true };
export default function () { http.get('%s'); }
`

// k6CallsScript has a connection for each user, as its clients are not shared.
const k6CallsScript = `import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.loadProtoset('%s');
export const options = { vus: %d, duration: '%s' };
const message = %s;
export default function () {
  if (__ITER == 0) { client.connect('%s', { plaintext: true }); }
  client.invoke('%s/%s', message, { discardResponseMessage: true });
}
`

var k6Args = []string{"run", "--quiet", "--no-usage-report", "--summary-mode", "disabled", "--address", ""}

func k6(l Load) Invocation {
	return Invocation{Args: k6Args, Script: fmt.Sprintf(k6Script, l.Connections, l.duration(), l.URL)}
}

func k6Calls(l Load) Invocation {
	return Invocation{Args: k6Args, Script: fmt.Sprintf(k6CallsScript,
		l.Call.Descriptors, l.Connections, l.duration(), l.Call.Message, l.address(), l.Call.Service, l.Call.Method)}
}
