package local

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/junit"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/markdown"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Reports are the status of a run, and all reports of it.
func Reports(t *testing.T, lt *v1beta1.LoadTest) map[string]string {
	t.Helper()
	status, err := yaml.Marshal(lt.Status)
	must.Succeed(t, err)
	page, err := html.Report(lt, nil)
	must.Succeed(t, err)
	cases, err := junit.Report(lt)
	must.Succeed(t, err)
	return map[string]string{"status": string(status), "text": report.Text(lt), "Markdown": markdown.Report(lt), "HTML": string(page), "JUnit": string(cases)}
}
