package assemble

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// requestSource is the source of an assignment's requests.
type requestSource struct {
	source *source.Source
	// captured is filled by setup.fill; nil: nothing is captured.
	captured *source.Table
	services *services
}

// takesCaptured reports whether a request takes values that the setup captures.
func (t *requestSource) takesCaptured() bool {
	for i := range t.source.Len() {
		if t.captured != nil && t.source.Takes(i, t.captured) {
			return true
		}
	}
	return false
}

// newRequestSource compiles the requests, and reads the files that they name. A file
// may be secret: errors name the file, never its text. memory is the process's, in bytes; 0: unknown.
func newRequestSource(a *workerv1.Assignment, s *services, memory int64) (*requestSource, error) {
	t := &requestSource{services: s}
	c := source.Config{
		ClientHeader: a.GetClientHeader(), Seed: a.GetSeed(), Workers: a.GetWorkers(),
		Secure: isSecure(a.GetTarget()), Traced: a.GetTarget().GetTraceSampled() > 0,
	}
	for _, target := range append([]*workerv1.Target{a.GetTarget()}, a.GetOtherTargets()...) {
		c.Origins = append(c.Origins, source.Origin{URL: target.GetUrl(), Aliases: target.GetAliases()})
	}
	for _, d := range a.GetData() {
		table, err := readTable(d, a.GetWorker(), max(a.GetWorkers(), 1), memory/tableShare)
		if err != nil {
			return nil, err
		}
		c.Tables = append(c.Tables, table)
	}
	if fill := a.GetSetup().GetFill(); len(fill.GetCapture()) > 0 {
		var err error
		columns := slices.Sorted(maps.Keys(fill.GetCapture()))
		if t.captured, err = source.NewTable("setup.fill.capture", columns, toChoice(fill.GetChoice())); err != nil {
			return nil, fmt.Errorf("setup.fill.capture: %w", err)
		}
		c.Tables = append(c.Tables, t.captured)
	}
	var err error
	if c.Journeys, err = toJourneys(a, c.Tables); err != nil {
		return nil, err
	}
	var errs []error
	for _, r := range a.GetRequests() {
		to, err := targetOf(r, a)
		var request source.Request
		if err == nil {
			request, err = toRequest(r, s.logins, to)
		}
		if n := int(r.GetTarget()); n > 0 {
			request.Target, request.Secure = n, isSecure(to)
		}
		if err == nil && r.GetTargetsFile() != "" {
			request.Targets, err = readTargets(r, a.GetTarget())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.GetName(), err))
		}
		c.Requests = append(c.Requests, request)
	}
	named := func(i int) string { return fmt.Sprintf("request %q", a.GetRequests()[i].GetName()) }
	errs = append(errs, checkCallsDriver(a), checkWebSockets(a), t.services.addCalls(a.GetRequests(), named, c.Requests))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	t.source, err = source.New(c)
	return t, err
}

// The bounds of files: of a body as a session's messages have it, of a header
// as servers take it.
const (
	maxBodyFile   = 16 << 20
	maxHeaderFile = 64 << 10
)

// toRequest makes a request for a target.
func toRequest(r *workerv1.Request, l logins, to *workerv1.Target) (source.Request, error) {
	out := source.Request{
		Name: r.GetName(), Weight: r.GetWeight(), Method: r.GetMethod(), Path: r.GetPath(), Body: string(r.GetBody()),
		Timeout: time.Duration(r.GetTimeoutNanos()), Follow: int(r.GetFollowRedirects()),
		Expect: source.Expectation{
			Status: r.GetExpectedStatus(), MaxBytes: r.GetMaxBodyBytes(), MinReplies: r.GetMinReplies(), MaxReplies: r.GetMaxReplies(),
		},
	}
	var err error
	if out.Stream, err = toStream(r.GetStream()); err != nil {
		return out, fmt.Errorf("stream: %w", err)
	}
	if s := r.GetWebSocket(); s != nil {
		out.WebSocket = &source.WebSocket{Subprotocol: s.GetSubprotocol(), Send: s.GetSend(), Every: time.Duration(s.GetEveryNanos())}
	}
	out.Tokens = source.Tokens{Input: r.GetStream().GetInputTokens(), Output: r.GetStream().GetOutputTokens()}
	for _, v := range r.GetExpectedJson() {
		out.Expect.JSON = append(out.Expect.JSON, source.ExpectedValue{Path: v.GetPath(), Equals: v.GetEquals()})
	}
	if r.GetBodyFile() != "" {
		if out.Body, err = readFile(r.GetBodyFile(), maxBodyFile); err != nil {
			return out, fmt.Errorf("body: %w", err)
		}
		out.BodyHidden = true
	}
	if len(r.GetForm()) > 0 {
		setForm(&out, r.GetForm())
	}
	for _, h := range r.GetHeaders() {
		header := source.Header{Name: h.GetName(), Value: h.GetValue()}
		if h.GetLogin() != 0 {
			var err error
			if header, err = l.header(h, to); err != nil {
				return out, fmt.Errorf("header %q: %w", h.GetName(), err)
			}
		} else if h.GetValueFile() != "" {
			value, err := readFile(h.GetValueFile(), maxHeaderFile)
			if err != nil {
				return out, fmt.Errorf("header %q: %w", h.GetName(), err)
			}
			// A file that was written by hand ends with a line break.
			header.Value, header.Literal = h.GetValue()+strings.TrimRight(value, "\r\n"), true
		}
		out.Headers = append(out.Headers, header)
	}
	return out, nil
}

// maxUntil bounds the data of the last event, as the API does.
const maxUntil = 256

func toStream(m *workerv1.Stream) (*transport.Stream, error) {
	if m == nil {
		return nil, nil
	}
	s := &transport.Stream{Until: m.GetUntil(), Count: m.GetCount(), Stall: time.Duration(m.GetStallNanos())}
	switch m.GetEvents() {
	case workerv1.StreamEvents_STREAM_EVENTS_UNSPECIFIED, workerv1.StreamEvents_STREAM_EVENTS_SSE:
		s.Events = transport.ServerSentEvents
	case workerv1.StreamEvents_STREAM_EVENTS_LINES:
		s.Events = transport.Lines
	case workerv1.StreamEvents_STREAM_EVENTS_CHUNKS:
		s.Events = transport.Chunks
	case workerv1.StreamEvents_STREAM_EVENTS_WEB_SOCKET:
		s.Events = transport.WebSocketMessages
	default:
		return nil, fmt.Errorf("events: %v is not known to this worker", m.GetEvents())
	}
	switch {
	case s.Stall < 0:
		return nil, fmt.Errorf("stall: must not be negative, is %v", s.Stall)
	case len(s.Until) > maxUntil:
		return nil, fmt.Errorf("until: %d bytes, at most %d", len(s.Until), maxUntil)
	}
	return s, nil
}

func streamGoals(list []*workerv1.StreamGoal) (goals []measure.StreamGoal) {
	for _, g := range list {
		goals = append(goals, measure.StreamGoal{
			Within: time.Duration(g.GetWithinNanos()), FirstEvent: time.Duration(g.GetFirstEventNanos()), MeanGap: time.Duration(g.GetMeanGapNanos()),
		})
	}
	return goals
}

// setForm makes the body a form, of which one field may have the content of the file.
func setForm(out *source.Request, fields []*workerv1.FormField) {
	content := out.Body
	out.Body = ""
	for _, f := range fields {
		field := source.FormField{Name: f.GetName(), Value: f.GetValue(), Filename: f.GetFilename(), ContentType: f.GetContentType()}
		if f.GetFromFile() {
			field.Value, field.Literal = content, true
		}
		out.Form = append(out.Form, field)
	}
}

// targetOf is the target of a request, which is there if the operator made the assignment.
func targetOf(r *workerv1.Request, a *workerv1.Assignment) (*workerv1.Target, error) {
	n := int(r.GetTarget())
	switch {
	case n < 0 || n > len(a.GetOtherTargets()):
		return nil, fmt.Errorf("target: there is no target %d among %d others", n, len(a.GetOtherTargets()))
	case n > 0:
		return a.GetOtherTargets()[n-1], nil
	}
	return a.GetTarget(), nil
}

func readFile(path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(b)) > limit {
		return "", fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return string(b), nil
}

// tableShare is the part of a worker's memory that the rows of one table may take.
const tableShare = 2

// smallTable is the size of a file up to which its rows are not counted: a ConfigMap has no more.
const smallTable = 1 << 20

// tablesMemory is what the worker's rows of large files take, of which each value costs more than
// its text.
func tablesMemory(a *workerv1.Assignment) int64 {
	const perByte = 2
	sum := int64(0)
	for _, d := range a.GetData() {
		if f, err := os.Stat(d.GetFile()); err == nil && f.Size() > smallTable {
			sum += f.Size() * perByte / int64(max(a.GetWorkers(), 1))
		}
	}
	return sum
}

func readTable(d *workerv1.Data, worker, workers int32, most int64) (*source.Table, error) {
	f, err := os.Open(d.GetFile())
	if err != nil {
		return nil, fmt.Errorf("data %q: %w", d.GetName(), err)
	}
	defer func() { _ = f.Close() }()
	format := source.CSV
	if d.GetFormat() == workerv1.DataFormat_DATA_FORMAT_JSON_LINES {
		format = source.JSONLines
	}
	return source.ReadTable(f, source.File{
		Name: d.GetName(), Path: d.GetFile(), Format: format, Choice: toChoice(d.GetChoice()), Worker: worker, Workers: workers, Most: most,
	})
}

func toChoice(c workerv1.DataChoice) source.Choice {
	switch c {
	case workerv1.DataChoice_DATA_CHOICE_SEQUENTIAL:
		return source.Sequential
	case workerv1.DataChoice_DATA_CHOICE_ZIPF:
		return source.Zipf
	default:
		return source.Uniform
	}
}
