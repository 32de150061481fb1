package draft

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/accesslog"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxHosts is how many hosts of a log are told apart at once.
const maxHosts = 16

// LogOptions say what of an access log becomes a draft.
type LogOptions struct {
	// Fields are the names of the fields of lines in JSON; nil: those of a format that is known.
	Fields *accesslog.Fields
	// Host is the one whose requests are taken; "" is the one with the most.
	Host string
	// Methods are those that are safe to repeat.
	Methods []string
	// Timing makes steps of the log's rates; nil leaves them to a series.
	Timing *Timing
}

// log is what was read.
type log struct {
	options LogOptions
	counts  accesslog.Counts
	hosts   map[string]*traffic
	// others are the requests to hosts that are not the target, and outside those that are not in
	// the window.
	others, outside int64
}

// traffic is what came for one host.
type traffic struct {
	scheme, host string
	// line is that of the last request, and before the rank of the host in whose place this came.
	line     int64
	before   int64
	rates    rateCount
	patterns patterns
	// unsafe counts requests that are not taken, by method.
	unsafe map[string]int64
}

func (t *traffic) total() (sum int64) {
	for _, n := range t.unsafe {
		sum += n
	}
	return sum + t.rates.total
}

// rank is at least the number of requests.
func (t *traffic) rank() int64 { return t.before + t.total() }

// FromLog reads an access log: the mix of its requests by method and pattern of the path, and
// their rates over time. The draft's Account says what was read.
func FromLog(in io.Reader, o LogOptions) (*Draft, error) {
	r, err := accesslog.NewReader(in, o.Fields)
	if err != nil {
		return nil, err
	}
	l := &log{options: o, hosts: map[string]*traffic{}}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		l.add(&e)
	}
	l.counts = r.Counts()
	return l.draft()
}

func (l *log) add(e *accesslog.Entry) {
	if t := l.options.Timing; t != nil && !t.contains(e.Time) {
		l.outside++
		return
	}
	if l.options.Host != "" && !strings.EqualFold(l.options.Host, e.Host) {
		l.others++
		return
	}
	t := l.hosts[e.Host]
	if t == nil {
		t = &traffic{host: e.Host, unsafe: map[string]int64{}, before: l.makeRoom()}
		l.hosts[e.Host] = t
	}
	t.scheme, t.line = cmp.Or(t.scheme, e.Scheme), e.Line
	if !slices.Contains(l.options.Methods, e.Method) {
		method := e.Method
		if !slices.Contains(methods, method) {
			method = "other methods"
		}
		t.unsafe[method]++
		return
	}
	t.rates.add(e.Time, e.Line)
	t.patterns.add(e.Method, strings.Clone(e.Path), e.Status)
}

// makeRoom drops the host of the lowest rank if there are as many as may be, and returns that
// rank, from which the next host begins: so a host with more than a maxHosts-th of all requests
// stays, whatever hosts others make up (Metwally, Agrawal and El Abbadi's Space-Saving). Of
// several, it is the one that was asked the longest ago.
func (l *log) makeRoom() int64 {
	if len(l.hosts) < maxHosts {
		return 0
	}
	least := slices.MinFunc(slices.Collect(maps.Values(l.hosts)), func(a, b *traffic) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.line, b.line))
	})
	l.others += least.total()
	delete(l.hosts, least.host)
	return least.rank()
}

// target is the host with the most requests that can be sent.
func (l *log) target() (*traffic, error) {
	var most *traffic
	for _, host := range slices.Sorted(maps.Keys(l.hosts)) {
		if t := l.hosts[host]; most == nil || t.rates.total > most.rates.total {
			most = t
		}
	}
	switch {
	case l.counts.Parsed() == 0:
		return nil, fmt.Errorf("none of %s is a request%s", text.Plural(l.counts.Lines, "line"), mistakes(l.counts.Mistakes, ": line %d: %s"))
	case most == nil && l.others > 0:
		return nil, fmt.Errorf("no request is for host %s; --log-host must be written as in the log, with its port", short(l.options.Host))
	case most == nil:
		return nil, errors.New("no request is within --window")
	case most.rates.total == 0:
		return nil, fmt.Errorf("no request has method %s (%s): --log-methods names others, if they are safe to repeat", strings.Join(l.options.Methods, " or "), byMethod(most.unsafe))
	}
	for _, t := range l.hosts {
		if t != most {
			l.others += t.total()
		}
	}
	return most, nil
}

func (l *log) draft() (*Draft, error) {
	t, err := l.target()
	if err != nil {
		return nil, err
	}
	all := t.patterns.all()
	d := &Draft{Source: "an access log", Account: l.account(t, all)}
	if t.host != "" {
		d.Origin = cmp.Or(t.scheme, "http") + "://" + t.host
	}
	kept := slices.Clone(all)
	kept = slices.DeleteFunc(kept, func(p pattern) bool { return p.path == "" || p.leaf.path == "" })
	kept = kept[:min(len(kept), maxRequests)]
	if len(kept) == 0 {
		return nil, fmt.Errorf("no path has at most %d bytes", maxExample)
	}
	for i := range kept {
		d.Requests = append(d.Requests, kept[i].request(kept[0].count, t.rates.total))
	}
	d.Remarks = append(d.Remarks, l.remarks(t, len(all), kept)...)
	if l.options.Timing == nil {
		return d, nil
	}
	rates := t.rates.smooth(l.options.Timing.Speed)
	source := fmt.Sprintf("the log from %s on, averaged over %s", stamp(t.rates.begin()), text.Whole(rates.part))
	d.load, err = l.options.Timing.follow(rates.points, rates.noise, float64(t.rates.total), source)
	if err != nil {
		return nil, fmt.Errorf("the times are from %s (line %d) to %s (line %d): %w", stamp(t.rates.earliest), t.rates.earlyLine, stamp(t.rates.latest), t.rates.latestLine, err)
	}
	return d, nil
}

// bearer is a JSON Web Token, which is a credential wherever it stands.
var bearer = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?`)

// request is the pattern by its example. The most frequent has the highest weight.
func (p *pattern) request(most, total int64) Request {
	r := Request{Name: p.name(), Method: p.method, Path: p.leaf.path, Weight: int(p.count)}
	if most > maxWeight {
		r.Weight = int(max(1, (p.count*maxWeight+most/2)/most))
	}
	r.Remark = fmt.Sprintf("%s of the log, %s.", text.Plural(p.count, "request"), text.Percent(p.count, total))
	if strings.Contains(p.path, "{") {
		r.Remark += " The path is an example."
	}
	if bearer.MatchString(r.Path) {
		r.Path = bearer.ReplaceAllLiteralString(r.Path, "LEFT-OUT")
		r.Remark = join(r.Remark, "A token in the path was left out.")
	}
	switch s := p.status; {
	case s >= 500:
		r.Remark = join(r.Remark, fmt.Sprintf("None was successful; the example had status %d.", s))
	case s >= 300 && s != 304:
		r.Status = []int{s}
		r.Remark = join(r.Remark, fmt.Sprintf("None was successful: the example had status %d, so this status is expected.", s))
	}
	return r
}

// remarks say what of the log is not in the draft.
func (l *log) remarks(t *traffic, found int, kept []pattern) (list []string) {
	sent := int64(0)
	for i := range kept {
		sent += kept[i].count
	}
	list = append(list, fmt.Sprintf("Of %d requests of the log, %d are the traffic mix.", l.counts.Parsed(), sent))
	if n := t.rates.total - sent; n > 0 {
		list = append(list, fmt.Sprintf("Left out: %d requests (%s) of patterns that are rare or too long; %d of %d patterns are kept.", n, text.Percent(n, t.rates.total), len(kept), found))
	}
	if s := l.unsafe(t); s != "" {
		list = append(list, s)
	}
	if l.others > 0 {
		list = append(list, fmt.Sprintf("Left out: %d requests for other hosts; a LoadTest has one target, and --log-host chooses.", l.others))
	}
	if l.outside > 0 {
		list = append(list, fmt.Sprintf("Left out: %d requests outside of --window.", l.outside))
	}
	if l.counts.NotParsed > 0 {
		list = append(list, fmt.Sprintf("Not parsed: %d of %d lines.", l.counts.NotParsed, l.counts.Lines))
	}
	if t.host != "" && t.scheme == "" {
		list = append(list, "The log does not say whether the target is asked by http or by https: http is a guess.")
	}
	return append(list, "A log has no headers and no bodies: add what the target needs, such as a login, to target.headers.",
		"Paths and queries are those of real people: look for names and credentials in them. Rows of data,",
		"see spec.data, send others than the examples.")
}

func (l *log) unsafe(t *traffic) string {
	n := t.total() - t.rates.total
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Left out as not safe to repeat: %s (%s). --log-methods names what is sent.", text.Plural(n, "request"), byMethod(t.unsafe))
}

// byMethod lists counts, the largest first.
func byMethod(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}

func mistakes(list []accesslog.Mistake, format string) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, format, m.Line, m.Why)
	}
	return b.String()
}

// account is what was read, for the person who reads along.
func (l *log) account(t *traffic, all []pattern) []string {
	lines := []string{fmt.Sprintf("Read %s: %s, and %d not parsed.", text.Plural(l.counts.Lines, "line"), text.Plural(l.counts.Parsed(), "request"), l.counts.NotParsed)}
	for _, m := range l.counts.Mistakes {
		lines = append(lines, fmt.Sprintf("  line %d: %s", m.Line, m.Why))
	}
	if n := l.counts.NotParsed - int64(len(l.counts.Mistakes)); n > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", n))
	}
	if s := l.unsafe(t); s != "" {
		lines = append(lines, s)
	}
	if l.others > 0 {
		lines = append(lines, fmt.Sprintf("Left out: %s for other hosts than %s.", text.Plural(l.others, "request"), cmp.Or(t.host, "that of lines without one")))
	}
	if l.outside > 0 {
		lines = append(lines, fmt.Sprintf("Left out: %s outside of --window.", text.Plural(l.outside, "request")))
	}
	if l.counts.Backwards > 0 {
		lines = append(lines, fmt.Sprintf("%s out of order, by at most %s; the order does not matter here.", text.Plural(l.counts.Backwards, "time"), text.Whole(l.counts.Furthest.Round(time.Millisecond))))
	}
	lines = append(lines,
		fmt.Sprintf("From %s to %s: %s requests/s on average, at most %s/s within %s.", stamp(t.rates.earliest), stamp(t.rates.latest),
			decimal(t.rates.mean()), decimal(t.rates.peak()), text.Whole(time.Duration(t.rates.width)*time.Second)),
		fmt.Sprintf("The most frequent of %s:", text.Plural(int64(len(all)), "pattern")))
	const most = 10
	for i := range all[:min(len(all), most)] {
		lines = append(lines, fmt.Sprintf("%9d  %7s  %s", all[i].count, text.Percent(all[i].count, t.rates.total), all[i].name()))
	}
	return lines
}
