package localcommand

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/config/samples"
)

// Try starts one of the systems of serve.Names in this process, runs its sample against it, and prints
// the report, and the verdict in the last line. The report is written as a page into a file, too, if
// one is named. It returns what came of the run, also with an error that is its verdict.
func (r *Runner) Try(ctx context.Context, system, page string) (came Outcome, err error) {
	if err := serve.Check(system); err != nil {
		return came, err
	}
	name := "try-" + serve.Service(system) + ".yaml"
	file, err := samples.Files.Open(name)
	if err != nil {
		return came, err
	}
	defer func() { _ = file.Close() }()
	tests, err := document.Checked(name, file, document.CheckLoadTest)
	if err != nil {
		return came, err
	}
	code, came, err := r.Run(ctx, tests, &Options{Serve: system, Output: "text"})
	if err != nil {
		return came, err
	}
	if err := r.writePage(came, page); err != nil {
		return came, err
	}
	if _, err := fmt.Fprintf(r.Out, "\n%s\n", sentence(came.Test)); err != nil {
		return came, fmt.Errorf("write the last line: %w", err)
	}
	return came, exitcode.Result(code)
}

// writePage writes the report as a page, if a file was named for it.
func (r *Runner) writePage(o Outcome, file string) error {
	if file == "" {
		return nil
	}
	data, err := form.Render(o.Test, o.Archived, "html", "")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("--html %s: %w", file, err)
	}
	_, err = fmt.Fprintf(r.Out, "\nThe page for a browser: %s\n", file)
	return err
}

// sentence is the verdict in a line, and why.
func sentence(lt *v1beta1.LoadTest) string {
	line := "try: " + strings.ToUpper(string(lt.Status.Verdict))
	if why := report.Judgement(&lt.Status); why != "" {
		return line + ": " + why
	}
	return line
}
