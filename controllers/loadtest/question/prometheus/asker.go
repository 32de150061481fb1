package prometheus

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-logr/logr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Asker asks Prometheus. A nil *Asker knows none.
type Asker struct {
	// Folder has the files token and ca.crt, if there are any.
	Folder string
}

// atOnce is how many of the questions about a step are asked at the same time.
const atOnce = 4

// Ask asks the questions about a step, within the time of the configuration for all of them.
func (a *Asker) Ask(ctx context.Context, to policy.Prometheus, asked question.Asked) *question.Answers {
	answers := &question.Answers{Step: asked.Step, Results: make([]v1beta1.QueryResult, len(asked.Questions))}
	err := a.connected(to, func(s session) {
		ctx, cancel := context.WithTimeout(ctx, to.Timeout)
		defer cancel()
		var wait sync.WaitGroup
		defer wait.Wait()
		places := make(chan struct{}, atOnce)
		for i, q := range asked.Questions {
			places <- struct{}{}
			wait.Go(func() {
				defer func() { <-places }()
				answers.Results[i] = s.answer(ctx, q, asked.At)
			})
		}
	})
	if err != nil {
		for i, q := range asked.Questions {
			answers.Results[i] = q.Unanswered(explain(err))
		}
	}
	return answers
}

// session asks the questions about one step.
type session struct {
	url    string
	token  string
	client *http.Client
}

// connected calls a function with a session, which keeps no connection longer.
func (a *Asker) connected(to policy.Prometheus, do func(session)) error {
	if a == nil || to.URL == "" {
		return sink.Problem("the operator's configuration has none")
	}
	token, err := a.token()
	if err != nil {
		return err
	}
	if token != "" && !strings.HasPrefix(to.URL, "https://") {
		return sink.Problem("the token is sent over https alone, and prometheus.url of the operator's configuration begins with http")
	}
	return sink.Connected(filepath.Join(a.Folder, "ca.crt"), func(client *http.Client) error {
		do(session{url: to.URL, token: token, client: client})
		return nil
	})
}

// token is that of the file; empty: there is none.
func (a *Asker) token() (string, error) {
	content, err := os.ReadFile(filepath.Join(a.Folder, "token"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", sink.Problem("the file token cannot be read")
	}
	return strings.TrimSpace(string(content)), nil
}

// explain is why Prometheus did not answer, in a sentence for everyone who may read the LoadTest:
// the address is the administrator's, and is left to the log.
func explain(err error) string { return "Prometheus: " + sink.Explain(err) + "." }

// unanswered notes in the log why there is no answer.
func unanswered(ctx context.Context, q question.Question, err error) v1beta1.QueryResult {
	logr.FromContextOrDiscard(ctx).Info("Prometheus did not answer a query", "query", q.Name, "cause", err.Error())
	return q.Unanswered(explain(err))
}
