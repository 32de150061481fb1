package links_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const document = `
runs:
  - {name: Grafana, url: "https://grafana.example.com:3000/d/load?var-namespace={namespace}&var-name={name}&from={start}&to={end}"}
  - {name: Logs, url: "http://logs/{namespace}/{name}/{uid}#%7B1%7D"}
trace: "https://tempo.example.com/trace/{traceID}?at={start}"
`

const id = "0af7651916cd43dd8448eb211c80319c"

var now = time.UnixMilli(2_000_000)

// run is one that began after 1000 s and ended after 1500 s.
func run(change func(*v1beta1.LoadTest)) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout", UID: "6a0c", CreationTimestamp: metav1.Unix(900, 0)}}
	lt.Status.StartTime, lt.Status.CompletionTime = &metav1.Time{Time: time.Unix(1000, 0)}, &metav1.Time{Time: time.Unix(1500, 0)}
	if change != nil {
		change(lt)
	}
	return lt
}

func TestLinksOfARun(t *testing.T) {
	templates, err := links.Parse([]byte(document))
	must.Succeed(t, err)
	same.As(t, "links", []links.Link{
		{Text: "Grafana", Href: "https://grafana.example.com:3000/d/load?var-namespace=shop&var-name=checkout&from=1000000&to=1500000"},
		{Text: "Logs", Href: "http://logs/shop/checkout/6a0c#%7B1%7D"},
	}, templates.Run(run(nil), now))
	if got := templates.Run(run(func(lt *v1beta1.LoadTest) { lt.Status.StartTime, lt.Status.CompletionTime = nil, nil }), now); !strings.HasSuffix(got[0].Href, "&from=900000&to=2000000") {
		t.Errorf("before it began: %s", got[0].Href)
	}
	if got := templates.Trace(run(nil), strings.ToUpper(id), now); got != "https://tempo.example.com/trace/"+id+"?at=1000000" {
		t.Errorf("the trace is at %s", got)
	}
	var none *links.Templates
	if none.Run(run(nil), now) != nil || none.Trace(run(nil), id, now) != "" {
		t.Error("without templates there are links")
	}
}

// A saved run may have any name. One that Kubernetes would not accept makes no link.
func TestHostileRunsHaveNoLinks(t *testing.T) {
	templates, err := links.Parse([]byte(document))
	must.Succeed(t, err)
	for _, hostile := range []string{"", "a&var-name=b", "../../admin", "a/b", `"><script>`, "a b", "a\nb", "%2e%2e", "Ünïcode", "a#b", "a?b", "{name}", strings.Repeat("a", 300)} {
		if got := templates.Run(run(func(lt *v1beta1.LoadTest) { lt.Name = hostile }), now); len(got) > 0 {
			t.Errorf("name %q leads to %v", hostile, got)
		}
		if got := templates.Run(run(func(lt *v1beta1.LoadTest) { lt.Namespace = hostile }), now); len(got) > 0 {
			t.Errorf("namespace %q leads to %v", hostile, got)
		}
		if got := templates.Run(run(func(lt *v1beta1.LoadTest) { lt.UID = types.UID(hostile) }), now); len(got) != 1 {
			t.Errorf("UID %q leads to %v", hostile, got)
		}
		if got := templates.Trace(run(nil), hostile, now); got != "" {
			t.Errorf("trace %q leads to %s", hostile, got)
		}
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	of := func(url string) string { return "runs: [{name: Grafana, url: '" + url + "'}]" }
	for document, want := range map[string]string{
		of("javascript:alert({name})"):                                       "must be an address that begins with http:// or https:// and a host",
		of("data:text/html,{name}"):                                          "must be an address that begins",
		of("//grafana.example.com/{name}"):                                   "must be an address that begins",
		of("grafana.example.com/{name}"):                                     "must be an address that begins",
		of("https:///d/{name}"):                                              "must be an address that begins",
		of("ftp://grafana.example.com/{name}"):                               "must be an address that begins",
		of("https://{namespace}.example.com/"):                               "must have no field in its host",
		of("https://grafana.example.com:{start}/"):                           "",
		of("{name}://grafana.example.com/"):                                  "must be an address that begins",
		of("https://me:key@grafana.example.com/"):                            "must have no user and no password",
		of("https://grafana.example.com{name}/"):                             "must have no field in its host",
		of("https://{name}@grafana.example.com/"):                            "must have no user and no password",
		of(`https://good.example.com\\@evil.example.com`):                    "without spaces and backslashes",
		of("https://grafana.example.com/ {name}"):                            "without spaces",
		of("https://grafana.example.com/{password}"):                         "field {password} is not known: there are {namespace}, {name}, {uid}, {start} and {end}, and in trace {traceID}",
		of("https://grafana.example.com/{traceID}"):                          "field {traceID} is not known",
		of("https://grafana.example.com/{}"):                                 "field {} is not known",
		of("https://grafana.example.com/{{name}"):                            "a brace that is part of the address must be written as %7B or %7D",
		of("https://grafana.example.com/?q=}"):                               "a brace that is part",
		of("https://a/" + strings.Repeat("x", 2048)):                         "at most 2048 characters",
		"trace: https://tempo.example.com/":                                  "trace: must have the field {traceID}",
		"trace: 'javascript:{traceID}'":                                      "trace: must be an address",
		"runs: [{name: '', url: 'https://a'}]":                               "runs[0].name: must have 1 to 40 characters",
		"runs: [{url: 'https://a'}]":                                         "runs[0].name",
		"runs: [" + strings.Repeat("{name: a, url: 'https://a'},", 17) + "]": "has 17 links; at most 16 are allowed",
		"dashboards: []":                                                     "is not a list of links",
		"[]":                                                                 "is not a list of links",
		"a: " + strings.Repeat("x", 70_000):                                  "has more than 65536 bytes",
	} {
		_, err := links.Parse([]byte(document))
		must.Say(t, err, want)
	}
}
