package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// notMeasured are tools that k6's bodies, the clients in Python and an older guidellm stand for, and why.
var notMeasured = []string{
	"k6 with its extension for events, xk6-sse: its module is not in the Go module proxy",
	"guidellm 0.4 and later, and vLLM's benchmark: they require torch, which takes gigabytes",
	"inference-perf itself: it requires Python 3.12",
}

// streamer is a generator of streams.
type streamer struct {
	name  string
	start func(url string, l streamLoad) (*process.Process, endStreams, error)
}

// endStreams waits for the end of a generator, and returns how many events it read; -1: it does not tell.
type endStreams func() (came int64, u process.Usage, err error)

func (b *bench) streamsFile(name string) string {
	return filepath.Join(b.root, "hack", "bench", "streams", name)
}

// streamers are the generators, ours first; missing says which cannot be had, and why.
func (b *bench) streamers(ctx context.Context) (list []streamer, missing []string, err error) {
	list = []streamer{{"loadworker", b.startOurs}}
	k6, err := peer.Named("k6")
	if err != nil {
		return nil, nil, err
	}
	if path, err := b.peers.Find(ctx, k6); err != nil {
		missing = append(missing, fmt.Sprintf("k6 %s (%v)", k6.Version, err))
	} else {
		list = append(list, streamer{"k6", b.startK6(path)})
	}
	for _, library := range []string{"aiohttp", "httpx"} {
		// Both are installed by one file, in an environment that is named for the first.
		path, version, err := b.peers.PyPI(ctx, "aiohttp", b.streamsFile("requirements.txt"))
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s, with aiohttp %s (%v)", library, version, err))
			continue
		}
		list = append(list, streamer{library, b.startPython(process.Command{Path: pythonOf(path)}, "streams.py", func(l peer.StreamLoad) peer.Invocation {
			return peer.PythonStreams(library, l)
		})})
	}
	if path, version, err := b.peers.PyPI(ctx, guidellm, b.streamsFile("guidellm.txt")); err != nil {
		missing = append(missing, fmt.Sprintf("%s %s (%v)", guidellm, version, err))
	} else {
		list = append(list, streamer{guidellm, b.startPython(process.Command{Path: pythonOf(path), Tree: true}, "guidellm_streams.py", peer.GuidellmStreams)})
	}
	return list, append(missing, notMeasured...), ctx.Err()
}

// pythonOf is the interpreter beside a command that is installed with it.
func pythonOf(path string) string { return filepath.Join(filepath.Dir(path), "python") }

// startOurs starts our worker with a user for each stream. Its connections are open beforehand.
func (b *bench) startOurs(url string, l streamLoad) (*process.Process, endStreams, error) {
	lt := streamTest(url, "[DONE]", harness.Burst(int32(l.streams), 1), weighted{"stream", "/${seq}", 1})
	lt.Spec.Target.Timeout = harness.Lasting(opening + l.lasting + timeout) // the server may not keep its schedule
	w, err := b.startWorker(lt, 0, generatorCore, "", "-open-for", "1m")
	if err != nil {
		return nil, nil, err
	}
	return w.Process, func() (came int64, u process.Usage, err error) {
		c := crew{w}
		if err := c.ready(); err != nil {
			return 0, u, err
		}
		_, m, err := c.run(0)
		if err != nil {
			return 0, u, err
		}
		if s := m.Requests[0].Streams; s != nil {
			came = s.Events
		}
		u, err = c.stop()
		return came, u, err
	}, nil
}

// startK6 starts k6 with a user for each stream.
func (b *bench) startK6(path string) func(string, streamLoad) (*process.Process, endStreams, error) {
	return func(url string, l streamLoad) (*process.Process, endStreams, error) {
		i := peer.K6Streams(peer.StreamLoad{Script: b.streamsFile("streams.js"), URL: url, Streams: l.streams})
		p, err := process.Start(process.Command{Path: path, Args: i.Args, Core: generatorCore, Stdin: strings.NewReader(""), Stdout: io.Discard})
		if err != nil {
			return nil, nil, err
		}
		return p, func() (int64, process.Usage, error) {
			u, err := p.Wait()
			return -1, u, err
		}, nil
	}
}

// startPython starts a script in Python, which prints how many events came.
func (b *bench) startPython(c process.Command, script string, invoke func(peer.StreamLoad) peer.Invocation) func(string, streamLoad) (*process.Process, endStreams, error) {
	return func(url string, l streamLoad) (*process.Process, endStreams, error) {
		c.Args = invoke(peer.StreamLoad{Script: b.streamsFile(script), URL: url, Streams: l.streams, Events: l.events()}).Args
		c.Core = generatorCore
		p, err := process.Start(c)
		if err != nil {
			return nil, nil, err
		}
		return p, func() (int64, process.Usage, error) {
			var out struct {
				Events int64 `json:"events"`
			}
			read := p.ReadJSON(&out)
			u, err := p.Stop()
			if err == nil {
				err = read
			}
			return out.Events, u, err
		}, nil
	}
}
