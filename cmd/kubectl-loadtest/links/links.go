package links

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Key is the key of the ConfigMap that has the templates.
const Key = "links.yaml"

const (
	// maxDocument, mostRuns, maxName and maxURL bound what an administrator may give.
	maxDocument, mostRuns, maxName, maxURL = 64 << 10, 16, 40, 2048
	traceID                                = "traceID"
)

// Templates are where links lead to. Of nil there are none.
type Templates struct {
	// Runs lead from a run, with the fields namespace, name, uid, start and end.
	Runs []Template `json:"runs,omitempty"`
	// TraceURL leads from a trace, with the same fields and traceID; empty: nowhere.
	TraceURL string `json:"trace,omitempty"`
}

// Template is a link with fields.
type Template struct {
	// Name is what the link is called.
	Name string `json:"name"`
	// URL has fields in braces: https://grafana.example.com/d/loadtest?var-name={name}&from={start}
	URL string `json:"url"`
}

// Link leads somewhere.
type Link struct{ Text, Href string }

// values are what a field may have. A link with any other value is left out.
var values = map[string]*regexp.Regexp{
	"namespace": regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`),
	"name":      regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`),
	"uid":       regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`),
	"start":     regexp.MustCompile(`^[0-9]{1,16}$`),
	"end":       regexp.MustCompile(`^[0-9]{1,16}$`),
	traceID:     regexp.MustCompile(`^[0-9a-f]{32}$`),
}

var field = regexp.MustCompile(`\{([^{}]*)\}`)

// Parse reads templates. An error names the template that is wrong, and the way out.
func Parse(document []byte) (*Templates, error) {
	if len(document) > maxDocument {
		return nil, fmt.Errorf("has more than %d bytes", maxDocument)
	}
	t := &Templates{}
	if err := yaml.UnmarshalStrict(document, t); err != nil {
		return nil, fmt.Errorf("is not a list of links, with runs and trace: %w", err)
	}
	if len(t.Runs) > mostRuns {
		return nil, fmt.Errorf("runs: has %d links; at most %d are allowed", len(t.Runs), mostRuns)
	}
	for i, run := range t.Runs {
		if strings.TrimSpace(run.Name) == "" || len(run.Name) > maxName {
			return nil, fmt.Errorf("runs[%d].name: must have 1 to %d characters", i, maxName)
		}
		if err := check(run.URL, false); err != nil {
			return nil, fmt.Errorf("runs[%d].url: %w", i, err)
		}
	}
	if t.TraceURL != "" {
		if err := check(t.TraceURL, true); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	return t, nil
}

// check says what is wrong with a template.
func check(template string, ofTrace bool) error {
	unprintable := func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }
	if len(template) > maxURL || strings.ContainsFunc(template, unprintable) {
		return fmt.Errorf("must have at most %d characters, without spaces and backslashes", maxURL)
	}
	for _, f := range field.FindAllStringSubmatch(template, -1) {
		if values[f[1]] == nil || f[1] == traceID && !ofTrace {
			return fmt.Errorf("field {%s} is not known: there are {namespace}, {name}, {uid}, {start} and {end}, and in trace {traceID}", f[1])
		}
	}
	if ofTrace && !strings.Contains(template, "{"+traceID+"}") {
		return errors.New("must have the field {traceID}")
	}
	return checkAddress(template)
}

// checkAddress says what is wrong with where a template leads to.
func checkAddress(template string) error {
	plain := field.ReplaceAllString(template, "x")
	if strings.ContainsAny(plain, "{}") {
		return errors.New("a brace that is part of the address must be written as %7B or %7D")
	}
	u, err := url.Parse(plain)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be an address that begins with http:// or https:// and a host")
	case u.User != nil:
		return errors.New("must have no user and no password")
	case !strings.HasPrefix(strings.ToLower(template), u.Scheme+"://"+strings.ToLower(u.Host)):
		return errors.New("must have no field in its host: where a link leads to does not depend on a run")
	}
	return nil
}

// Run are the links from a run. One that has not ended ends now.
func (t *Templates) Run(lt *v1beta1.LoadTest, now time.Time) []Link {
	if t == nil {
		return nil
	}
	var list []Link
	given := of(lt, now)
	for _, run := range t.Runs {
		if href := fill(run.URL, given); href != "" {
			list = append(list, Link{run.Name, href})
		}
	}
	return list
}

// Trace is where a trace of a run is; empty: it is not known.
func (t *Templates) Trace(lt *v1beta1.LoadTest, id string, now time.Time) string {
	if t == nil || t.TraceURL == "" {
		return ""
	}
	given := of(lt, now)
	given[traceID] = strings.ToLower(id)
	return fill(t.TraceURL, given)
}

// of are the values of a run. Times are in milliseconds since 1970.
func of(lt *v1beta1.LoadTest, now time.Time) map[string]string {
	start, end := lt.CreationTimestamp.Time, now
	if lt.Status.StartTime != nil {
		start = lt.Status.StartTime.Time
	}
	if lt.Status.CompletionTime != nil {
		end = lt.Status.CompletionTime.Time
	}
	return map[string]string{
		"namespace": lt.Namespace, "name": lt.Name, "uid": string(lt.UID), "start": fmt.Sprint(start.UnixMilli()), "end": fmt.Sprint(end.UnixMilli()),
	}
}

// fill puts values into a template; empty: one of them cannot be what it is said to be.
func fill(template string, given map[string]string) string {
	fits := !slices.ContainsFunc(field.FindAllStringSubmatch(template, -1), func(f []string) bool { return !values[f[1]].MatchString(given[f[1]]) })
	if !fits {
		return ""
	}
	return field.ReplaceAllStringFunc(template, func(f string) string { return url.QueryEscape(given[strings.Trim(f, "{}")]) })
}
