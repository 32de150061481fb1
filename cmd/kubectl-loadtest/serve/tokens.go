package serve

import (
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
	tokenshttp "github.com/loadtest-dev/loadtest-operator/targets/tokens/http"
)

func languageModel() (http.Handler, error) {
	service, err := tokens.NewService(tokens.Default())
	if err != nil {
		return nil, err
	}
	return tokenshttp.NewHandler(tokenshttp.Config{
		Service: service, Version: version, InstanceID: version, Metrics: http.NotFoundHandler(), Now: time.Now,
	})
}
