package peer

import (
	"fmt"
	"strconv"
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
	// Certificate is a file with the certificate to trust, for https.
	Certificate string
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

func wrk(l Load) Invocation {
	return Invocation{Args: []string{"-t1", "-c" + l.connections(), "-d" + l.duration(), l.URL}}
}

func h2load(l Load) Invocation {
	until := "-D" + strconv.Itoa(l.Seconds)
	if l.Requests > 0 { // it would wait for requests that are in flight at the end of the time, and not end
		until = "-n" + strconv.Itoa(l.Requests)
	}
	return Invocation{Args: []string{"-t1", "-c" + l.connections(), "-m" + strconv.Itoa(l.Streams), until, l.URL}}
}

func bombardier(l Load) Invocation {
	return Invocation{Args: []string{"--print", "r", "-c", l.connections(), "-d", l.duration(), l.URL}}
}

func hey(l Load) Invocation {
	return Invocation{Args: []string{"-c", l.connections(), "-z", l.duration(), l.URL}}
}

// vegeta without a rate and with as many workers as connections is a closed
// loop; its results go nowhere, as its report costs more than the load.
func vegeta(l Load) Invocation {
	args := []string{
		"attack", "-rate=0", "-workers=" + l.connections(), "-max-workers=" + l.connections(),
		"-duration=" + l.duration(), "-output=/dev/null",
	}
	if l.Certificate != "" {
		args = append(args, "-root-certs="+l.Certificate)
	}
	return Invocation{Args: args, Stdin: "GET " + l.URL + "\n"}
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

func k6(l Load) Invocation {
	return Invocation{
		Args:   []string{"run", "--quiet", "--no-usage-report", "--summary-mode", "disabled", "--address", ""},
		Script: fmt.Sprintf(k6Script, l.Connections, l.duration(), l.URL),
	}
}
