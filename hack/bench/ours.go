package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// worker is one of our workers in a process of its own.
type worker struct {
	*process.Process
	requests int // of its LoadTest
}

// answer is a line of the driver's output.
type answer struct {
	Ready       bool            `json:"ready"`
	Step        int32           `json:"step"`
	Measurement json.RawMessage `json:"measurement"`
}

// startWorker starts one of the workers of a LoadTest. It does not wait.
func (b *bench) startWorker(lt *v1beta1.LoadTest, number int32, core int, certificate string, args ...string) (*worker, error) {
	a, err := assignment(lt, number)
	if err != nil {
		return nil, err
	}
	if a.GetTarget().GetDescriptorsFile() != "" { // no kubelet mounts it here
		if a.Target.DescriptorsFile, err = b.descriptors(); err != nil {
			return nil, err
		}
	}
	if a.GetReplay() != nil {
		a.Replay.File = b.path(replayLog)
	}
	for _, d := range a.GetData() { // nor tables, of which the shop alone has any
		d.File = b.shopFile(filepath.Base(d.GetFile()))
	}
	p, err := process.Start(process.Command{Path: b.path(b.driver), Args: args, Env: trust(certificate), Core: core})
	if err != nil {
		return nil, err
	}
	w := &worker{p, len(a.GetRequests())}
	text, err := protojson.Marshal(a)
	if err == nil {
		_, err = p.Stdin.Write(append(text, '\n'))
	}
	return w, w.explain(err)
}

// trust is the environment of a generator that is to trust a certificate.
func trust(certificate string) []string {
	if certificate == "" {
		return nil
	}
	return []string{"SSL_CERT_FILE=" + certificate}
}

// descriptors writes the descriptors of the service that is called to a file.
func (b *bench) descriptors() (path string, err error) {
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{
		File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)},
	})
	if err != nil {
		return "", err
	}
	path = b.path("health.binpb")
	return path, os.WriteFile(path, set, 0o600)
}

func (w *worker) hear() (a answer, err error) { return a, w.explain(w.ReadJSON(&a)) }

// explain adds why the process ended to an error.
func (w *worker) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ended := w.Stop(); ended != nil {
		return ended
	}
	return fmt.Errorf("worker: %w", err)
}

// ready waits until the worker is.
func (w *worker) ready() error {
	a, err := w.hear()
	if err == nil && !a.Ready {
		err = errors.New("the worker is not ready")
	}
	return err
}

func (w *worker) start(step int32, at int64) error {
	_, err := fmt.Fprintf(w.Stdin, "start %d %d\n", step, at)
	return w.explain(err)
}

// measured waits for the end of a step.
func (w *worker) measured() (*measure.Measurement, error) {
	a, err := w.hear()
	if err != nil {
		return nil, err
	}
	m := &workerv1.StepMeasurement{}
	if err := protojson.Unmarshal(a.Measurement, m); err != nil {
		return nil, err
	}
	return wire.Decode(m, w.requests)
}

// crew is workers that share a load.
type crew []*worker

// soon is how long before its start a step is announced: long enough for all
// workers to hear it.
const soon = 200 * time.Millisecond

// run runs one step, and returns its start and what all measured.
func (c crew) run(step int32) (start int64, merged *measure.Measurement, err error) {
	start = groundtruth.Now() + int64(soon)
	for _, w := range c {
		if err := w.start(step, start); err != nil {
			return 0, nil, err
		}
	}
	for _, w := range c {
		m, err := w.measured()
		if err != nil {
			return 0, nil, err
		}
		if merged == nil {
			merged = m
		} else if err := merged.Merge(m); err != nil {
			return 0, nil, err
		}
	}
	return start, merged, nil
}

func (c crew) ready() error {
	for _, w := range c {
		if err := w.ready(); err != nil {
			return err
		}
	}
	return nil
}

// stop ends all workers; the usage is that of all.
func (c crew) stop() (total process.Usage, err error) {
	for _, w := range c {
		u, stopped := w.Stop()
		total.CPU += u.CPU
		total.PeakRSS += u.PeakRSS
		err = errors.Join(err, stopped)
	}
	return total, err
}

// peakRSS is that of all workers, so far.
func (c crew) peakRSS() int64 {
	total := int64(0)
	for _, w := range c {
		total += w.PeakRSS()
	}
	return total
}
