package assemble

import (
	"fmt"
	"os"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/targetsfile"
)

// readTargets reads the targets of a request, which are all of the assignment's target.
func readTargets(r *workerv1.Request, target *workerv1.Target) (*source.Targets, error) {
	f, err := os.Open(r.GetTargetsFile())
	if err != nil {
		return nil, fmt.Errorf("targets: %w", err)
	}
	defer func() { _ = f.Close() }()
	format := targetsfile.HTTP
	if r.GetTargetsFormat() == workerv1.TargetsFormat_TARGETS_FORMAT_JSON {
		format = targetsfile.JSON
	}
	targets, err := targetsfile.Read(f, format, targetsfile.Origin{URL: target.GetUrl(), Aliases: target.GetAliases(), OwnHostOnly: target.GetOwnHostOnly()})
	if err != nil {
		return nil, fmt.Errorf("targets, file %s: %w", r.GetTargetsFile(), err)
	}
	return targets, nil
}

const (
	// byteMemory is the most that targets take for each byte of their file while it is
	// read: the file, the text of the targets, and 24 bytes for each header, of which the
	// shortest takes 5 bytes of the file.
	byteMemory = 8
	// targetMemory is what a target takes beside that, and shortestTarget what one takes
	// of the file at least: "GET /" and a line break.
	targetMemory, shortestTarget = 64, 6
)

// targetsMemory is what the targets of all requests take. A file that is not there is
// refused when it is read.
func targetsMemory(a *workerv1.Assignment) int64 {
	sum := int64(0)
	for _, r := range a.GetRequests() {
		if f, err := os.Stat(r.GetTargetsFile()); err == nil {
			size := min(f.Size(), targetsfile.MaxSize)
			sum += size*byteMemory + min(size/shortestTarget, source.MaxTargets)*targetMemory
		}
	}
	return sum
}
