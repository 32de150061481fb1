package draft

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Manifest is the draft as a LoadTest or a LoadTestSchedule, with comments.
func (d *Draft) Manifest() ([]byte, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("%s %w", d.Source, err)
	}
	d.Name = resourceName(d.Name, d.Origin, d.Service)
	shared, head := d.share(), d.head()
	fields := []pair{field("target", d.target(shared))}
	if d.Health {
		fields = append(fields, remark(field("preflight", list(flowObject(field("grpcHealth", flowObject())))),
			"Nothing is sent before the target's health service says SERVING. {service: shop.v1.Cart} asks\nfor one service instead of all."))
	}
	root := d.object(object(append(fields,
		remark(field("requests", d.requests()), "The traffic mix: a request of weight 4 is sent four times as often as one of weight 1.\nTexts are templates: ${user}, ${seq}, ${uuid} and ${rand:1-100} differ from request to\nrequest, and $$ is a dollar sign."),
		d.loadField(),
		d.thresholds(),
	)...))
	var out bytes.Buffer
	out.WriteString(head)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("write the LoadTest: %w", err)
	}
	return out.Bytes(), nil
}

// loadField is what is sent over time.
func (d *Draft) loadField() pair {
	if d.load != nil {
		return d.load.field()
	}
	return remark(field("ladder", object(
		field("users", flow(number(5), number(20), number(50))),
		field("ratePerUser", number(1)),
		field("duration", scalar("30s")),
	)), "More users from rung to rung, each of which sends a request a second. Begin small.")
}

// head is the comment at the top: what the file is, what to do with it, and which Secret
// it needs.
func (d *Draft) head() string {
	lines := d.steps()
	if keys := d.secretKeys(); len(keys) > 0 {
		create := "  kubectl create secret generic " + d.secretName()
		for _, key := range keys {
			create += fmt.Sprintf(` --from-literal=%s="$%s"`, key, strings.ToUpper(strings.ReplaceAll(key, "-", "_")))
		}
		lines = append(lines, "", "Credentials are not in this file. Create the Secret that it names from variables that hold",
			"them, without a prefix such as \"Bearer \" that stands below:", create,
			"For --local write it to a folder of its own (--dry-run=client -o yaml > secrets/headers.yaml),",
			"and run with --with secrets.")
	}
	if len(d.Remarks) > 0 {
		lines = append(append(lines, ""), d.Remarks...)
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight("# "+oneLine(line), " ") + "\n")
	}
	return b.String()
}

// oneLine keeps a text that comes from a file within its comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// secretName is one that LoadTests may use by default.
func (d *Draft) secretName() string {
	return "loadtest-" + strings.Trim(d.Name[:min(len(d.Name), 40)], "-") + "-headers"
}

// secretKeys are the keys of the Secret, sorted.
func (d *Draft) secretKeys() []string {
	var keys []string
	for _, r := range append(slices.Clone(d.Requests), Request{Headers: d.headers}) {
		for _, h := range r.Headers {
			if h.Secret {
				keys = append(keys, h.key())
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

var noKey = regexp.MustCompile(`[^a-z0-9]+`)

// key is that of a header in the Secret.
func (h Header) key() string {
	key := strings.Trim(noKey.ReplaceAllString(strings.ToLower(h.Name), "-"), "-")
	if key == "" {
		return "value"
	}
	return key
}

// share is how many headers at the beginning of each request are the same in all.
func (d *Draft) share() []Header {
	if len(d.Requests) < 2 {
		return nil
	}
	var shared []Header
	for _, h := range d.Requests[0].Headers {
		inAll := !slices.ContainsFunc(d.Requests, func(r Request) bool { return !slices.Contains(r.Headers, h) })
		if inAll {
			shared = append(shared, h)
		}
	}
	return shared
}

func (d *Draft) target(shared []Header) *yaml.Node {
	var fields []pair
	if d.Service != "" {
		fields = append(fields, field("service", d.service()))
	} else {
		fields = append(fields, remark(field("url", scalar(d.Origin)),
			"A host that is not a Service of the cluster must be allowed by its administrator\n(targets.rules). A Service of the LoadTest's namespace is named like this instead:\n  service: {name: shop, port: 80}"))
	}
	if d.HTTP2 {
		fields = append(fields, field("protocol", scalar("HTTP/2")))
	}
	if d.Insecure && strings.HasPrefix(d.scheme(), "https") {
		fields = append(fields, remark(field("tls", object(field("insecureSkipVerify", boolean(true)))), "Any certificate is trusted, as --insecure has it."))
	}
	if d.Timeout != "" {
		fields = append(fields, field("timeout", scalar(d.Timeout)))
	}
	if all := slices.Concat(d.headers, shared); len(all) > 0 {
		fields = append(fields, remark(field("headers", d.headerList(all)), "Sent with every request."))
		for i := range d.Requests {
			r := &d.Requests[i]
			r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h Header) bool { return slices.Contains(shared, h) })
		}
	}
	return object(fields...)
}

func (d *Draft) scheme() string {
	scheme, _, _ := strings.Cut(d.Origin, "://")
	return scheme
}

func (d *Draft) service() *yaml.Node {
	name, port, ok := strings.Cut(d.Service, ":")
	fields := []pair{field("name", scalar(name))}
	if n, err := strconv.Atoi(port); err == nil {
		fields = append(fields, field("port", number(n)))
	} else if ok {
		fields = append(fields, field("port", scalar(port)))
	}
	if d.scheme() == "https" {
		fields = append(fields, field("scheme", scalar("HTTPS")))
	}
	return flowObject(fields...)
}

func (d *Draft) requests() *yaml.Node {
	items := make([]*yaml.Node, len(d.Requests))
	for i := range d.Requests {
		items[i] = d.request(&d.Requests[i])
	}
	return list(items...)
}

func (d *Draft) request(r *Request) *yaml.Node {
	fields := []pair{remark(field("name", scalar(r.Name)), oneLineEach(r.Remark))}
	if r.Weight != 1 {
		fields = append(fields, field("weight", number(r.Weight)))
	}
	if r.call != nil {
		return object(append(fields, field("grpc", r.call.node()))...)
	}
	fields = append(fields, field("http", d.http(r)))
	if len(r.Status) > 0 {
		status := make([]*yaml.Node, len(r.Status))
		for i, code := range r.Status {
			status[i] = number(code)
		}
		fields = append(fields, field("expect", flowObject(field("status", flow(status...)))))
	}
	return object(fields...)
}

// mostRedirects is the greatest http.followRedirects.
const mostRedirects = 10

// http is what a request has of HTTP, in one line if that is its method and its path.
func (d *Draft) http(r *Request) *yaml.Node {
	var fields []pair
	if r.Method != "GET" {
		fields = append(fields, field("method", scalar(r.Method)))
	}
	fields = append(fields, field("path", scalar(escape(r.Path))))
	if r.follow {
		fields = append(fields, field("followRedirects", number(mostRedirects)))
	}
	if len(r.Headers) == 0 && r.Body == "" {
		return flowObject(fields...)
	}
	if len(r.Headers) > 0 {
		fields = append(fields, field("headers", d.headerList(r.Headers)))
	}
	if r.Body != "" {
		fields = append(fields, field("body", scalar(escape(r.Body))))
	}
	return object(fields...)
}

func oneLineEach(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (d *Draft) headerList(headers []Header) *yaml.Node {
	items := make([]*yaml.Node, len(headers))
	for i, h := range headers {
		value := field("value", scalar(escape(h.Value)))
		if h.Secret {
			source := []pair{field("secret", flowObject(field("name", scalar(d.secretName())), field("key", scalar(h.key()))))}
			if h.Prefix != "" {
				source = append([]pair{field("prefix", scalar(h.Prefix))}, source...)
			}
			value = field("valueFrom", flowObject(source...))
		}
		items[i] = flowObject(field("name", scalar(h.Name)), value)
	}
	return list(items...)
}

var noName = regexp.MustCompile(`[^a-z0-9]+`)

// resourceName is a name that a LoadTest may have: the one that is given, else that of
// the Service or the host.
func resourceName(given, origin, service string) string {
	if given != "" {
		return given
	}
	name, _, _ := strings.Cut(service, ":")
	if u, err := url.Parse(origin); name == "" && err == nil {
		name = u.Hostname()
	}
	const longest = 40
	name = strings.Trim(noName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	name = strings.Trim(name[:min(len(name), longest)], "-")
	if name == "" {
		return "loadtest"
	}
	return name
}
