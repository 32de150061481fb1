package peer

import "strconv"

// StreamLoad is streams that are opened at once and read to their end.
type StreamLoad struct {
	// Script is a file, and URL that of the server.
	Script, URL string
	Streams     int
	// Events is how many events each stream has, beside the last one.
	Events int
}

// K6Streams is k6 with a script, which has the URL as TARGET and the number as STREAMS. It fails
// unless all bodies were read.
func K6Streams(l StreamLoad) Invocation {
	return Invocation{Args: append(k6Args[:len(k6Args):len(k6Args)], "-e", "TARGET="+l.URL, "-e", "STREAMS="+strconv.Itoa(l.Streams), l.Script)}
}

// GuidellmStreams is Python with a script that calls guidellm, and prints how many events came.
func GuidellmStreams(l StreamLoad) Invocation {
	return Invocation{Args: []string{l.Script, l.URL, strconv.Itoa(l.Streams), strconv.Itoa(l.Events)}}
}

// PythonStreams is Python with a script that reads events by a library. It prints how many came.
func PythonStreams(library string, l StreamLoad) Invocation {
	return Invocation{Args: []string{l.Script, library, l.URL, strconv.Itoa(l.Streams)}}
}
