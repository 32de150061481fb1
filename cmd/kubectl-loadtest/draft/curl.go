package draft

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"
)

// curl are the flags of curl that a LoadTest can have.
type curl struct {
	flags                                   *pflag.FlagSet
	method, user, agent, referer, cookie    string
	url, maxTime, json                      string
	headers, data, raw, binary, ascii, form []string
	encoded                                 []string
	head, get, insecure, http2              bool
}

// ignored are flags of curl that are about its output or its connection, and change
// nothing of the request: with a value, and without.
var (
	ignoredValues = map[string]string{"output": "o", "write-out": "w", "connect-timeout": "", "retry": "", "retry-delay": "", "max-redirs": "", "cacert": "", "resolve": "", "limit-rate": "Y"}
	ignoredBools  = map[string]string{"silent": "s", "show-error": "S", "verbose": "v", "include": "i", "fail": "f", "location": "L", "compressed": "", "http1.1": "", "ipv4": "4", "ipv6": "6",
		"no-buffer": "N", "progress-bar": "#", "fail-with-body": "", "globoff": "g", "remote-name": "O", "no-keepalive": "", "path-as-is": "", "tlsv1.2": "", "tlsv1.3": "", "http1.0": "0"}
)

func newCurl() *curl {
	c := &curl{flags: pflag.NewFlagSet("curl", pflag.ContinueOnError)}
	f := c.flags
	f.SetOutput(io.Discard)
	f.StringVarP(&c.method, "request", "X", "", "")
	f.StringVarP(&c.user, "user", "u", "", "")
	f.StringVarP(&c.agent, "user-agent", "A", "", "")
	f.StringVarP(&c.referer, "referer", "e", "", "")
	f.StringVarP(&c.cookie, "cookie", "b", "", "")
	f.StringVar(&c.url, "url", "", "")
	f.StringVarP(&c.maxTime, "max-time", "m", "", "")
	f.StringVar(&c.json, "json", "", "")
	f.StringArrayVarP(&c.headers, "header", "H", nil, "")
	f.StringArrayVarP(&c.data, "data", "d", nil, "")
	f.StringArrayVar(&c.raw, "data-raw", nil, "")
	f.StringArrayVar(&c.binary, "data-binary", nil, "")
	f.StringArrayVar(&c.ascii, "data-ascii", nil, "")
	f.StringArrayVar(&c.encoded, "data-urlencode", nil, "")
	f.StringArrayVarP(&c.form, "form", "F", nil, "")
	f.BoolVarP(&c.head, "head", "I", false, "")
	f.BoolVarP(&c.get, "get", "G", false, "")
	f.BoolVarP(&c.insecure, "insecure", "k", false, "")
	f.BoolVar(&c.http2, "http2", false, "")
	f.BoolVar(&c.http2, "http2-prior-knowledge", false, "")
	for name, letter := range ignoredValues {
		f.StringP(name, letter, "", "")
	}
	for name, letter := range ignoredBools {
		f.BoolP(name, letter, false, "")
	}
	return c
}

// FromCurlText reads a curl command as it is copied from a browser or a document.
func FromCurlText(command string) (*Draft, error) {
	// A variable stays as it is written: what it holds is not known here.
	words, err := shell.Fields(strings.TrimSpace(command), func(name string) string { return "$" + name })
	if err != nil {
		return nil, fmt.Errorf("the curl command cannot be read: %w", err)
	}
	if len(words) == 0 || words[0] != "curl" {
		return nil, errors.New("the text does not begin with curl")
	}
	return FromCurl(words[1:])
}

// FromCurl reads the arguments of a curl command.
func FromCurl(args []string) (*Draft, error) {
	c := newCurl()
	if err := c.flags.Parse(args); err != nil {
		return nil, fmt.Errorf("curl: %w: leave that flag out, which is not read here; kubectl explain loadtest.spec says whether a LoadTest has the like", err)
	}
	urls := c.flags.Args()
	if c.url != "" {
		urls = append(urls, c.url)
	}
	switch {
	case len(urls) != 1:
		return nil, fmt.Errorf("curl: one URL is needed, %d given", len(urls))
	case len(c.form) > 0:
		return nil, errors.New("curl: --form is not read here: leave it out, and write its fields as spec.requests[].http.form")
	}
	if !strings.Contains(urls[0], "://") {
		urls[0] = "http://" + urls[0] // as curl has it
	}
	return c.draft(urls[0])
}

func (c *curl) draft(target string) (*Draft, error) {
	origin, path, user, err := address(target)
	if err != nil {
		return nil, fmt.Errorf("curl: %w", err)
	}
	d := &Draft{Source: "a curl command", Origin: origin, HTTP2: c.http2, Insecure: c.insecure}
	r := Request{Weight: 1, Path: path}
	if err := c.addBody(&r); err != nil {
		return nil, err
	}
	r.Method = c.methodOf(&r)
	c.addHeaders(&r, user)
	if c.maxTime != "" {
		d.Timeout = c.maxTime + "s"
	}
	if c.flags.Changed("location") {
		r.follow = true
		d.Remarks = append(d.Remarks, "curl --location follows up to 50 redirects, to any host; a LoadTest up to 10, to its own target and spec.otherTargets.")
	}
	d.Requests = []Request{r}
	return d, nil
}

// addBody puts the data into the body, or with --get into the query.
func (c *curl) addBody(r *Request) error {
	var parts []string
	for _, value := range append(c.data, c.ascii...) {
		text, err := content(value, true)
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	for _, value := range c.binary {
		text, err := content(value, false)
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	parts = append(parts, c.raw...)
	for _, value := range c.encoded {
		parts = append(parts, encode(value))
	}
	if c.json != "" {
		text, err := content(c.json, false)
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	all := strings.Join(parts, "&")
	if !c.get {
		r.Body = all
		return nil
	}
	if all != "" {
		separator := "?"
		if strings.Contains(r.Path, "?") {
			separator = "&"
		}
		r.Path += separator + all
	}
	return nil
}

// content is a value of --data: after an @ it is that of a file, whose line breaks curl
// leaves out of text.
func content(value string, isText bool) (string, error) {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		return value, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("curl: --data @%s: %w", name, errors.Unwrap(err))
	}
	if isText {
		return strings.NewReplacer("\r", "", "\n", "").Replace(string(data)), nil
	}
	return string(data), nil
}

// encode is a value of --data-urlencode: name=content, or content.
func encode(value string) string {
	name, rest, ok := strings.Cut(value, "=")
	if !ok {
		return url.QueryEscape(value)
	}
	if name == "" {
		return url.QueryEscape(rest)
	}
	return name + "=" + url.QueryEscape(rest)
}

func (c *curl) methodOf(r *Request) string {
	switch {
	case c.method != "":
		return c.method
	case c.head:
		return "HEAD"
	case r.Body != "":
		return "POST"
	}
	return "GET"
}

func (c *curl) addHeaders(r *Request, user *url.Userinfo) {
	for _, line := range c.headers {
		name, value, _ := strings.Cut(line, ":")
		r.setHeader(header(strings.TrimSpace(name), strings.TrimSpace(value)))
	}
	login := c.user
	if user != nil {
		login = user.String()
	}
	if login != "" {
		r.setHeader(header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login))))
		r.Remark = join(r.Remark, "Basic: the Secret holds base64 of user:password.")
	}
	if c.cookie != "" {
		r.setHeader(header("Cookie", c.cookie))
	}
	if c.agent != "" {
		r.setHeader(header("User-Agent", c.agent))
	}
	if c.referer != "" {
		r.setHeader(header("Referer", c.referer))
	}
	switch {
	case c.json != "":
		r.setDefault("Content-Type", "application/json")
		r.setDefault("Accept", "application/json")
	case r.Body != "":
		r.setDefault("Content-Type", "application/x-www-form-urlencoded")
	}
}

// setDefault adds a header that the command does not have.
func (r *Request) setDefault(name, value string) {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			return
		}
	}
	r.setHeader(header(name, value))
}
