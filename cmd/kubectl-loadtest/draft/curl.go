package draft

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"
)

// curl are the flags of curl that a LoadTest can have.
type curl struct {
	flags                                *pflag.FlagSet
	method, user, agent, referer, cookie string
	url, maxTime, bearer                 string
	headers, form                        []string
	data                                 []datum // in the order of the command
	head, get, insecure, http2           bool
}

// datum is the value of one flag with data.
type datum struct{ flag, value string }

// dataFlag is such a flag.
type dataFlag struct {
	name string
	all  *[]datum
}

var _ pflag.Value = dataFlag{}

// Set takes one more value.
func (f dataFlag) Set(value string) error {
	*f.all = append(*f.all, datum{f.name, value})
	return nil
}

// String is the default.
func (dataFlag) String() string { return "" }

// Type is that of the value.
func (dataFlag) Type() string { return "string" }

// dataFlags are all of them, with their letters.
var dataFlags = map[string]string{"data": "d", "data-ascii": "", "data-binary": "", "data-raw": "", "data-urlencode": "", "json": ""}

// ignored are flags of curl that are about its output or its connection, and change
// nothing of the request: with a value, and without.
var (
	ignoredValues = map[string]string{"output": "o", "write-out": "w", "connect-timeout": "", "retry": "", "retry-delay": "", "max-redirs": "", "cacert": "", "resolve": "", "limit-rate": "",
		"speed-limit": "Y", "speed-time": "y", "retry-max-time": "", "connect-to": "", "cookie-jar": "c", "dump-header": "D", "output-dir": "", "stderr": "", "trace": "", "trace-ascii": "",
		"keepalive-time": "", "max-filesize": "", "proto": "", "proto-redir": "", "tls-max": ""}
	ignoredBools = map[string]string{"silent": "s", "show-error": "S", "verbose": "v", "include": "i", "fail": "f", "location": "L", "compressed": "", "http1.1": "", "ipv4": "4", "ipv6": "6",
		"no-buffer": "N", "progress-bar": "#", "fail-with-body": "", "globoff": "g", "remote-name": "O", "no-keepalive": "", "path-as-is": "", "tlsv1.2": "", "tlsv1.3": "", "http1.0": "0",
		"no-progress-meter": "", "retry-all-errors": "", "retry-connrefused": "", "remote-header-name": "J", "create-dirs": "", "ssl-no-revoke": "", "tcp-nodelay": "", "no-sessionid": ""}
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
	f.StringVar(&c.bearer, "oauth2-bearer", "", "")
	f.StringArrayVarP(&c.headers, "header", "H", nil, "")
	f.StringArrayVarP(&c.form, "form", "F", nil, "")
	f.BoolVarP(&c.head, "head", "I", false, "")
	f.BoolVarP(&c.get, "get", "G", false, "")
	f.BoolVarP(&c.insecure, "insecure", "k", false, "")
	f.BoolVar(&c.http2, "http2", false, "")
	f.BoolVar(&c.http2, "http2-prior-knowledge", false, "")
	for name, letter := range dataFlags {
		f.VarP(dataFlag{name, &c.data}, name, letter, "")
	}
	for name, letter := range ignoredValues {
		f.StringP(name, letter, "", "")
	}
	for name, letter := range ignoredBools {
		f.BoolP(name, letter, false, "")
	}
	return c
}

// forCmd matches a command that is quoted for cmd of Windows.
var forCmd = regexp.MustCompile(`^\s*curl(?:\.exe)?\s+\^"|\^\r?\n`)

// FromCurlText reads a curl command as it is copied from a browser or a document.
func FromCurlText(command string) (*Draft, error) {
	if forCmd.MatchString(command) {
		return nil, errors.New("the curl command is for cmd of Windows: let the browser copy it for bash (POSIX)")
	}
	// A variable stays as it is written: what it holds is not known here. Of several commands, browsers end each with a
	// semicolon.
	words, err := shell.Fields(strings.TrimRight(strings.TrimSpace(command), "; "), func(name string) string { return "$" + name })
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
	if err := c.addData(&r); err != nil {
		return nil, err
	}
	r.Method = c.methodOf()
	c.addHeaders(&r, origin, user)
	if err := d.setMaxTime(c.maxTime); err != nil {
		return nil, err
	}
	if c.flags.Changed("location") {
		r.follow = true
		d.Remarks = append(d.Remarks, "curl --location follows up to 50 redirects, to any host; a LoadTest up to 10, to its own target and spec.otherTargets.")
	}
	d.Requests = []Request{r}
	return d, nil
}

// setMaxTime sets the timeout; with 0, curl has none.
func (d *Draft) setMaxTime(text string) error {
	const most, least = 600, 0.001 // seconds, of spec.target.timeout
	seconds, err := strconv.ParseFloat(cmp.Or(text, "0"), 64)
	switch {
	case err != nil || !(seconds >= 0):
		return fmt.Errorf("curl: --max-time must be a number of seconds, is %q", text)
	case seconds == 0:
		return nil
	case seconds > most:
		d.Remarks = append(d.Remarks, fmt.Sprintf("curl --max-time is %s s; the timeout of a LoadTest is 10 minutes at most.", text))
	}
	d.Timeout = time.Duration(max(least, min(seconds, most)) * float64(time.Second)).Round(time.Millisecond).String()
	return nil
}

// addData puts the data into the body, or with --get into the query, joined as curl joins it.
func (c *curl) addData(r *Request) error {
	var all strings.Builder
	for i, d := range c.data {
		text, err := d.text()
		if err != nil {
			return err
		}
		if i > 0 && d.flag != "json" {
			all.WriteByte('&')
		}
		all.WriteString(text)
	}
	if !c.get {
		r.Body = all.String()
		return nil
	}
	if all.Len() > 0 {
		separator := "?"
		if strings.Contains(r.Path, "?") {
			separator = "&"
		}
		r.Path += separator + all.String()
	}
	return nil
}

// text is what is sent of a value. After an @ it is the content of a file, whose line breaks curl
// leaves out of text.
func (d datum) text() (string, error) {
	name, isFile := strings.CutPrefix(d.value, "@")
	switch {
	case d.flag == "data-urlencode":
		return d.encoded()
	case !isFile || d.flag == "data-raw":
		return d.value, nil
	}
	text, err := d.read(name)
	if d.flag == "data" || d.flag == "data-ascii" {
		text = strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(text)
	}
	return text, err
}

// encoded is a value of --data-urlencode: content, =content, name=content, @file or name@file.
func (d datum) encoded() (string, error) {
	at := strings.IndexByte(d.value, '=')
	if at < 0 {
		at = strings.IndexByte(d.value, '@')
	}
	if at < 0 {
		return url.QueryEscape(d.value), nil
	}
	name, text := d.value[:at], d.value[at+1:]
	if d.value[at] == '@' {
		var err error
		if text, err = d.read(text); err != nil {
			return "", err
		}
	}
	if name != "" {
		name += "="
	}
	return name + url.QueryEscape(text), nil
}

func (d datum) read(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("curl: --%s @%s: %w", d.flag, file, errors.Unwrap(err))
	}
	return string(data), nil
}

// methodOf is the method. A flag with data makes it POST, also where the data is empty.
func (c *curl) methodOf() string {
	switch {
	case c.method != "":
		return c.method
	case c.head:
		return "HEAD"
	case len(c.data) > 0 && !c.get:
		return "POST"
	}
	return "GET"
}

// addHeaders adds the headers of the command, and those that other flags make unless it has them.
func (c *curl) addHeaders(r *Request, origin string, user *url.Userinfo) {
	left := c.ownHeaders(r, origin)
	add := func(name, value string) bool {
		return value != "" && !slices.Contains(left, strings.ToLower(name)) && r.setDefault(name, value)
	}
	login := c.user
	if user != nil {
		login = user.String()
	}
	if c.bearer != "" {
		add("Authorization", "Bearer "+c.bearer)
	}
	if login != "" && add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login))) {
		r.Remark = join(r.Remark, "Basic: the Secret holds base64 of user:password.")
	}
	add("Cookie", c.cookie)
	add("User-Agent", c.agent)
	add("Referer", strings.TrimSuffix(c.referer, ";auto"))
	switch {
	case c.flags.Changed("json"):
		add("Content-Type", "application/json")
		add("Accept", "application/json")
	case len(c.data) > 0 && !c.get:
		add("Content-Type", "application/x-www-form-urlencoded")
	}
}

// ownHeaders adds the values of --header: NAME: VALUE, or NAME; for an empty value. NAME: without a
// value leaves out a header that curl would send, and nothing of the kind has no meaning to curl.
func (c *curl) ownHeaders(r *Request, origin string) (left []string) {
	for _, line := range c.headers {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		empty, isEmpty := strings.CutSuffix(name, ";")
		switch {
		case !ok && isEmpty:
			r.setHeader(header(empty, ""))
		case ok && value == "":
			left = append(left, strings.ToLower(name))
		case ok && strings.EqualFold(name, "host"):
			r.setHost(value, origin)
		case ok:
			r.setHeader(header(name, value))
		}
	}
	return left
}

// setDefault adds a header that the request does not have, and says whether it did.
func (r *Request) setDefault(name, value string) bool {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			return false
		}
	}
	r.setHeader(header(name, value))
	return true
}
