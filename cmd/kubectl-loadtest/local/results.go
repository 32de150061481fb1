package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/requestlog"
)

// Results is where the requests of a run are written to, each as a result of vegeta.
type Results struct {
	To io.Writer
	// Encoding is one of Encodings; "" is the first.
	Encoding string
	// Missing is set to how many requests were counted and are not among the results.
	Missing int64
}

// Encodings are those that vegeta has for results.
var Encodings = requestlog.Encodings

func requestLog(folder string, worker int32) string {
	return filepath.Join(folder, fmt.Sprintf("requests-%d", worker))
}

// writeResults writes the requests that the workers recorded.
func (r *run) writeResults() (err error) {
	if r.Results == nil {
		return nil
	}
	var logs []io.Reader
	for n := range r.test.Status.Workers.Desired {
		f, openErr := os.Open(requestLog(r.folder, n))
		if errors.Is(openErr, os.ErrNotExist) {
			continue // it never began
		} else if openErr != nil {
			return openErr
		}
		defer func() { _ = f.Close() }()
		logs = append(logs, f)
	}
	r.Results.Missing, err = requestlog.Write(r.Results.To, r.Results.Encoding, loggedSteps(r.test), logs...)
	return err
}

// loggedSteps are the steps that were measured.
func loggedSteps(lt *v1beta1.LoadTest) []requestlog.Step {
	var list []requestlog.Step
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.Result == nil || step.StartTime == nil {
			continue
		}
		url := lt.Status.TargetURL
		if step.Side == v1beta1.SideControl && lt.Status.Versus != nil {
			url = lt.Status.Versus.TargetURL
		}
		list = append(list, requestlog.Step{Index: int32(i), Name: step.Name, URL: url, OtherURLs: plan.KnownURLs(lt).Others, Sent: step.Result.Sent, Start: step.StartTime.Time})
	}
	return list
}
