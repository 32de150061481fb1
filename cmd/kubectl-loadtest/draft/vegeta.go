package draft

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// FromVegeta reads a targets file of vegeta, in its HTTP or its JSON format. Files that
// it names for bodies are read as vegeta reads them, from the current folder.
func FromVegeta(data []byte) (*Draft, error) {
	data = append(slices.Clip(data), '\n') // without a line break at the end, vegeta leaves out the last line of JSON
	targeter := vegeta.NewHTTPTargeter(bytes.NewReader(data), nil, nil)
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		targeter = vegeta.NewJSONTargeter(bytes.NewReader(data), nil, nil)
	}
	targets, err := vegeta.ReadAllTargets(targeter)
	if err != nil {
		return nil, fmt.Errorf("the targets file cannot be read: %w", err)
	}
	d := &Draft{Source: "vegeta's targets"}
	byOrigin, origins := map[string][]Request{}, []string(nil)
	for _, t := range targets {
		origin, path, user, err := address(t.URL)
		if err != nil {
			return nil, fmt.Errorf("the targets file: %w", err)
		}
		if byOrigin[origin] == nil {
			origins = append(origins, origin)
		}
		r := Request{Weight: 1, Method: t.Method, Path: path, Body: string(t.Body)}
		for _, name := range slices.Sorted(maps.Keys(t.Header)) {
			if strings.EqualFold(name, "host") {
				r.setHost(strings.Join(t.Header[name], ", "), origin)
			}
			r.setHeader(header(name, strings.Join(t.Header[name], ", ")))
		}
		if user != nil {
			r.setHeader(Header{Name: "Authorization", Secret: true, Prefix: "Basic "})
		}
		byOrigin[origin] = append(byOrigin[origin], r)
	}
	d.Origin = slices.MaxFunc(origins, func(a, b string) int { return len(byOrigin[a]) - len(byOrigin[b]) })
	d.Requests = merge(byOrigin[d.Origin])
	d.leftOut(0, origins)
	if len(d.Requests) > maxRequests {
		d.Remarks = append(d.Remarks, "All of the targets are sent in turn if the file is in a ConfigMap that a request names by targets.")
	}
	return d, nil
}
