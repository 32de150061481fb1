package policy_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestResultsAreKeptAsConfigured(t *testing.T) {
	const hour = time.Hour
	for document, want := range map[string]policy.Results{
		"":            {Wait: hour},
		"results: {}": {Wait: hour},
		"results: {objectStore: {endpoint: 'https://s3.example.com', bucket: load-tests}}":                                     {Archived: true, Wait: hour},
		"results: {objectStore: {endpoint: 'http://minio.s3.svc:9000/', bucket: load.tests, prefix: a/b-c_d.e, region: eu-1}}": {Archived: true, Wait: hour},
		"results: {volume: {}, wait: 5m}":                                       {Archived: true, Wait: 5 * time.Minute},
		"results: {webhook: {url: 'https://ci.example.com/hooks?of=loadtest'}}": {Announced: true, Wait: hour},
	} {
		p, err := policy.Load([]byte(document))
		if err != nil {
			t.Errorf("%s: %v", document, err)
			continue
		}
		same.As(t, document, want, p.Results())
	}
}

func TestBadResultsAreRefused(t *testing.T) {
	store := func(fields string) string {
		return "results: {objectStore: {endpoint: 'https://s3.example.com', bucket: load-tests, " + fields + "}}"
	}
	endpoint := func(url string) string {
		return "results: {objectStore: {bucket: load-tests, endpoint: '" + url + "'}}"
	}
	for document, want := range map[string]string{
		"results: {objectStore: {}, volume: {}}":                                     "results: objectStore and volume exclude each other",
		"results: {volume: {}, wait: 0s}":                                            "results.wait: 0s must be more than 0s",
		"results: {volume: {}, wait: 169h}":                                          "results.wait: 169h0m0s must be more than 0s and at most 168h",
		"results: {volume: {prefix: ../x}}":                                          `results.volume.prefix: "../x" must be names`,
		"results: {volume: {path: /etc}}":                                            `unknown field "results.volume.path"`,
		store("prefix: /a"):                                                          `results.objectStore.prefix: "/a" must be`,
		store("prefix: a/./b"):                                                       `results.objectStore.prefix: "a/./b" must be`,
		store("prefix: " + strings.Repeat("a", 257)):                                 "at most 256 bytes",
		store("region: 'eu 1'"):                                                      "results.objectStore.region: ",
		endpoint("s3.example.com"):                                                   "results.objectStore.endpoint: must be a URL of http or https",
		endpoint("file:///etc"):                                                      "results.objectStore.endpoint: must be a URL of http or https",
		endpoint("ftp://s3.example.com"):                                             "results.objectStore.endpoint: must be a URL of http or https",
		endpoint("https:///bucket"):                                                  "results.objectStore.endpoint: must be a URL of http or https",
		endpoint("https://s3.example.com/bucket"):                                    "results.objectStore.endpoint: must be a scheme, a host and a port",
		endpoint("https://s3.example.com?a=b"):                                       "results.objectStore.endpoint: must be a scheme, a host and a port",
		"results: {objectStore: {endpoint: 'https://s3.example.com', bucket: Load}}": `results.objectStore.bucket: "Load" is not a name`,
		"results: {webhook: {}}":                                                     "results.webhook.url: must be a URL",
		"results: {webhook: {url: 'https://a.b/#c'}}":                                "results.webhook.url: must not have a fragment",
		"results: {webhook: {url: 'https://u:hunter2@a.b/'}}":                        "results.webhook.url: must not have a user or a password",
		"results: {webhook: {url: 'https://u:hunter2@a.b/ %'}}":                      "results.webhook.url: must be a URL",
	} {
		_, err := policy.Load([]byte(document))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", document, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error has the password: %v", document, err)
		}
	}
	load(t, "results: {volume: {}, wait: 168h}")
	load(t, "results: {volume: {prefix: "+strings.Repeat("a", 256)+"}, wait: 1ns}")
}

// A configuration that cannot be read may have results kept.
func TestResultsOfABrokenConfigurationAreUnknown(t *testing.T) {
	broken, _ := policy.Next(nil, map[string]string{"config.yaml": "results: {volumes: {}}"})
	for _, p := range []*policy.Policy{broken, policy.Unread()} {
		if got := p.Results(); !got.Unknown || got.Wait != time.Hour {
			t.Errorf("results %+v", got)
		}
	}
	last := load(t, "results: {volume: {}}")
	next, _ := policy.Next(last, map[string]string{"config.yaml": "results: {volumes: {}}"})
	if got := next.Results(); got.Unknown || !got.Archived {
		t.Errorf("after a valid one: %+v", got)
	}
}

// The documents of the guide are valid.
func TestResultsAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/results-that-outlive.md")
	must.Succeed(t, err)
	documents := 0
	for rest := string(text); ; documents++ {
		_, after, found := strings.Cut(rest, "```yaml\nresults:")
		if !found {
			break
		}
		document, after, _ := strings.Cut(after, "```")
		if p, err := policy.Load([]byte("results:" + document)); err != nil || p.Results() == policy.Default().Results() {
			t.Errorf("results:%s: %v", document, err)
		}
		rest = after
	}
	if documents < 3 {
		t.Errorf("the guide has %d documents", documents)
	}
}
