package session

import (
	"context"
	"errors"
	"strings"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// preparation is how far an assignment is prepared: an assembly once it can begin,
// the reason why it cannot until then.
type preparation struct {
	assembly *assemble.Assembly
	notReady error
	// exposed says that the reason may quote responses.
	exposed bool
}

// prepare assembles and prepares an assignment. It sends each change; the last is
// the assembly, or a refusal that is final.
func prepare(ctx context.Context, a *workerv1.Assignment, c assemble.Config, changes chan<- preparation) {
	send := func(p preparation) {
		select {
		case changes <- p:
		case <-ctx.Done():
		}
	}
	notReady := func(err error) { send(preparation{notReady: err, exposed: a.GetExposeResponses()}) }
	assembly, err := assemble.New(ctx, a, c, notReady)
	if err == nil {
		if err = assembly.Prepare(ctx, notReady); err != nil {
			assembly.Close()
		}
	}
	if err != nil {
		notReady(err)
		return
	}
	send(preparation{assembly: assembly})
}

func (p preparation) readiness() *workerv1.Readiness {
	if p.assembly != nil {
		target, control := p.assembly.Descriptors()
		return &workerv1.Readiness{
			Ready: true, PreflightAnswers: p.assembly.PreflightAnswers(), Targets: p.assembly.Targets(),
			Descriptors: target, ControlDescriptors: control,
		}
	}
	r := &workerv1.Readiness{Message: oneLine(p.notReady, p.exposed)}
	var refusal *assemble.Refusal
	if errors.As(p.notReady, &refusal) {
		r.Reason = refusal.Reason
	}
	return r
}

// oneLine is an error as a message of the session, with what the target sent only if that
// is exposed. Errors that were joined by line
// breaks are joined by semicolons; what a file or a proxy gave may hold bytes that
// are not UTF-8, which a message cannot.
func oneLine(err error, exposed bool) string {
	return strings.ToValidUTF8(strings.ReplaceAll(failure.Message(err, exposed), "\n", "; "), "\uFFFD")
}
