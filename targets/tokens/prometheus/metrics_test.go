package prometheus

import (
	"testing"
	"testing/synctest"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/metricstest"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestMetricsAreTheCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, err := tokens.NewService(tokens.Parameters{Slots: 1, Queue: 2, Context: 9, Step: time.Second})
		must.Succeed(t, err)
		registry := prom.NewRegistry()
		must.Succeed(t, Register(registry, service))
		if Register(registry, service) == nil {
			t.Error("registered twice")
		}
		for _, size := range []int{2, 3, 4} { // the first finishes, the second runs, the third waits
			_, err := service.Submit(size, size)
			must.Succeed(t, err)
		}
		_, err = service.Submit(1, 1)
		if err == nil {
			t.Error("the server is not full")
		}
		<-time.After(2500 * time.Millisecond)
		gone, err := service.Submit(1, 1)
		must.Succeed(t, err)
		gone.Close()
		same.As(t, "metrics", []string{
			"tokens_generated_tokens_total 2",
			"tokens_prompt_tokens_total 10",
			`tokens_requests_running 1`,
			`tokens_requests_total{outcome="abandoned"} 1`,
			`tokens_requests_total{outcome="finished"} 1`,
			`tokens_requests_total{outcome="refused"} 1`,
			`tokens_requests_waiting 1`,
		}, metricstest.Lines(t, Handler(registry), "tokens_"))
		<-time.After(time.Minute) // all are finished
	})
}
