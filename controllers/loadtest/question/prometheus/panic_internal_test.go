package prometheus

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
)

// A session without a client panics.
func TestPanicLeavesAQuestionWithoutAnAnswer(t *testing.T) {
	got := session{url: "http://prometheus"}.answer(t.Context(), question.Question{Name: "connections", Expression: "x"}, time.Unix(0, 0))
	if got.Name != "connections" || got.Value != "" || got.Problem != "Prometheus: the connection failed." {
		t.Errorf("%+v", got)
	}
}
