package groundtruth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestControl(t *testing.T) {
	s := start(t, Config{Record: 2})
	control := httptest.NewServer(s.Control())
	t.Cleanup(control.Close)
	c := dial(t, s.Address())
	c.get("/7")
	c.receive(len(ok64))
	until(t, s, func(c Counters) bool { return c.Answered == 1 })

	var counters Counters
	fetch(t, control.URL+"/counters", &counters)
	same.As(t, "counters", s.Counters(), counters)
	var records []Record
	fetch(t, control.URL+"/records", &records)
	if diff := cmp.Diff(s.Records(), records); diff != "" || records[0].Number != 7 {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{"?is=fixed:1ms": 200, "?is=nonsense": 400, "": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, control.URL+"/latency"+query, nil)
		must.Succeed(t, err)
		resp, err := http.DefaultClient.Do(r)
		must.Succeed(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("PUT /latency%s is answered %d, want %d", query, resp.StatusCode, want)
		}
	}
}

func fetch(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	must.Succeed(t, err)
	defer resp.Body.Close()
	must.Succeed(t, json.NewDecoder(resp.Body).Decode(into))
}
