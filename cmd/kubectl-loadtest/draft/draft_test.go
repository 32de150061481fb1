package draft_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var rules = func() *admission.Admission {
	a, err := admission.OfLoadTests()
	if err != nil {
		panic(err)
	}
	return a
}()

// accepted writes a draft, and reads it as the API server would.
func accepted(t *testing.T, d *draft.Draft, err error) (*v1beta1.LoadTest, string) {
	t.Helper()
	must.Succeed(t, err)
	data, err := d.Manifest()
	must.Succeed(t, err)
	object := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSONStrict(data)
	if err == nil {
		err = object.UnmarshalJSON(content)
	}
	if err != nil {
		t.Fatalf("%v:\n%s", err, data)
	}
	object.SetNamespace("default")
	lt, problems := rules.Review(context.Background(), object, nil)
	for _, p := range problems {
		t.Errorf("the API refuses %s: %s", p.Field, p.Message)
	}
	if lt == nil {
		t.Fatalf("the manifest is refused:\n%s", data)
	}
	return lt, string(data)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data := must.ReadFile(t, "testdata/"+file)
	return data
}

// secret is in every credential of the examples: no output has it.
const secret = "s3cr3t"

func hides(t *testing.T, manifest string, keys ...string) {
	t.Helper()
	if strings.Contains(manifest, secret) {
		t.Errorf("a credential is written:\n%s", manifest)
	}
	for _, key := range keys {
		if !strings.Contains(manifest, "--from-literal="+key+`="$`) || !strings.Contains(manifest, "key: "+key+"}") {
			t.Errorf("nothing says how to create key %s:\n%s", key, manifest)
		}
	}
}

func TestFromCurl(t *testing.T) {
	d, err := draft.FromCurlText(string(read(t, "chrome.sh")))
	lt, manifest := accepted(t, d, err)
	hides(t, manifest, "authorization", "cookie", "x-csrf-token")
	r := lt.Spec.Requests[0]
	if lt.Spec.Target.URL != "https://shop.example.com" || r.HTTP.Method != "POST" || r.HTTP.Path != "/api/cart?lang=en&access_token=LEFT-OUT" {
		t.Errorf("%s %s of %s", r.HTTP.Method, r.HTTP.Path, lt.Spec.Target.URL)
	}
	if want := "{\"item\":1,\n\"note\":\"it's $$5 for '${user}'\"}"; r.HTTP.Body != strings.ReplaceAll(want, "${", "$${") {
		t.Errorf("body %q", r.HTTP.Body)
	}
	var names []string
	for _, h := range r.HTTP.Headers {
		names = append(names, h.Name)
	}
	same.As(t, "headers", []string{"accept", "authorization", "content-type", "origin", "referer", "x-csrf-token", "Cookie"}, names)
	if from := r.HTTP.Headers[1].ValueFrom; from == nil || from.Prefix != "Bearer " {
		t.Errorf("authorization is %+v", r.HTTP.Headers[1])
	}
}

// headers are of names and values in turn.
func headers(words ...string) (list []v1beta1.Header) {
	for i := 0; i < len(words); i += 2 {
		list = append(list, v1beta1.Header{Name: words[i], Value: &words[i+1]})
	}
	return list
}

func TestCurlFlags(t *testing.T) {
	form := headers("Content-Type", "application/x-www-form-urlencoded")
	for name, tt := range map[string]struct {
		args []string
		want v1beta1.Request
	}{
		"no scheme":  {[]string{"localhost:8080"}, v1beta1.Request{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/"}}},
		"joined":     {[]string{"-sSXPUT", "http://a/b", "-da=1", "-d", "b=2"}, v1beta1.Request{Name: "b", HTTP: &v1beta1.HTTPRequest{Method: "PUT", Path: "/b", Body: "a=1&b=2"}}},
		"get":        {[]string{"-G", "http://a/b?c=3", "--data-urlencode", "a=1 2"}, v1beta1.Request{Name: "b", HTTP: &v1beta1.HTTPRequest{Path: "/b?c=3&a=1+2"}}},
		"head":       {[]string{"-I", "http://a/"}, v1beta1.Request{Name: "home", HTTP: &v1beta1.HTTPRequest{Method: "HEAD", Path: "/"}}},
		"json":       {[]string{"http://a/", "--json", "{}"}, v1beta1.Request{Name: "create", HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/", Body: "{}"}}},
		"dollar":     {[]string{"http://a/$x?y=${z}"}, v1beta1.Request{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/$$x?y=$${z}"}}},
		"after dash": {[]string{"--url", "http://a/", "--compressed", "-L", "-k", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}"}, v1beta1.Request{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/", FollowRedirects: 10}}},
		"no data":    {[]string{"http://a/b", "-d", "", "-m", "0"}, v1beta1.Request{HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/b", Headers: form}}},
		"in order":   {[]string{"http://a/b", "--data-raw", "@a", "--data-urlencode", "b=c d", "-d", "e", "--data-urlencode", "f@testdata/item.json", "-m", "3600"}, v1beta1.Request{HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/b", Body: "@a&b=c+d&e&f=%7B%22name%22%3A+%22hammer%22%7D%0A"}}},
		"long JSON":  {[]string{"http://a/b", "--json", "[1", "--json", ",2]"}, v1beta1.Request{HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/b", Body: "[1,2]"}}},
		"headers":    {[]string{"http://10.0.0.1/b", "-H", "Host: shop", "-H", "Expect:", "-H", "X-Empty;", "-H", "content-type:", "-d", "a", "-A", "one", "-H", "user-agent: two", "-H", "none"}, v1beta1.Request{HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/b", Body: "a", Headers: headers("Host", "shop", "X-Empty", "", "user-agent", "two")}}},
		"no secrets": {[]string{"http://a/b?keyword=x&author_id=1&to=/c?apikey=1&design=d&X-Amz-Signature=2&authorization=3"}, v1beta1.Request{HTTP: &v1beta1.HTTPRequest{Path: "/b?keyword=x&author_id=1&to=/c?apikey=LEFT-OUT&design=d&X-Amz-Signature=LEFT-OUT&authorization=LEFT-OUT"}}},
		"own host":   {[]string{"http://a:80/b", "-H", "host: A:80", "-H", "X: y"}, v1beta1.Request{HTTP: &v1beta1.HTTPRequest{Path: "/b", Headers: headers("X", "y")}}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.FromCurl(tt.args)
			lt, _ := accepted(t, d, err)
			got := lt.Spec.Requests[0]
			if tt.want.HTTP.Headers != nil {
				same.As(t, "headers", tt.want.HTTP.Headers, got.HTTP.Headers)
			}
			if got.HTTP.Method != tt.want.HTTP.Method || got.HTTP.Path != tt.want.HTTP.Path || got.HTTP.Body != tt.want.HTTP.Body {
				t.Errorf("%s %s %q, want %s %s %q", got.HTTP.Method, got.HTTP.Path, got.HTTP.Body, tt.want.HTTP.Method, tt.want.HTTP.Path, tt.want.HTTP.Body)
			}
		})
	}
}

func TestCurlRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no URL":       {[]string{"-d", "a"}, "one URL is needed, 0 given"},
		"two URLs":     {[]string{"http://a/", "http://b/"}, "one URL is needed, 2 given"},
		"a form":       {[]string{"http://a/", "-F", "a=b"}, "--form is not read here: leave it out, and write its fields as spec.requests[].http.form"},
		"another flag": {[]string{"http://a/", "--aws-sigv4", "x"}, "unknown flag: --aws-sigv4: leave that flag out, which is not read here; kubectl explain"},
		"another host": {[]string{"ftp://a/"}, "must be http:// or https:// with a host"},
		"no file":      {[]string{"http://a/", "-d", "@/does/not/exist"}, "--data @/does/not/exist: no such file"},
		"no encoded":   {[]string{"http://a/", "--data-urlencode", "a@/does/not/exist"}, "--data-urlencode @/does/not/exist: no such file"},
		"no time":      {[]string{"http://a/", "-m", "1m"}, `--max-time must be a number of seconds, is "1m"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := draft.FromCurl(tt.args)
			must.Say(t, err, tt.want)
		})
	}
}

func TestFromCurlText(t *testing.T) {
	_, err := draft.FromCurlText("curl ^\"https://a/b^\" ^\r\n  -H ^\"accept: */*^\"")
	must.Say(t, err, "is for cmd of Windows")
	d, err := draft.FromCurlText("curl 'https://a/b?c=^d' ;\n")
	if lt, _ := accepted(t, d, err); lt.Spec.Requests[0].HTTP.Path != "/b?c=^d" {
		t.Errorf("path %s", lt.Spec.Requests[0].HTTP.Path)
	}
}

func TestFromOpenAPI(t *testing.T) {
	d, err := draft.FromOpenAPI(read(t, "openapi.yaml"))
	lt, manifest := accepted(t, d, err)
	hides(t, manifest, "authorization", "x-api-key")
	if lt.Spec.Target.URL != "https://eu.example.com" {
		t.Errorf("target %s", lt.Spec.Target.URL)
	}
	got := map[string]string{}
	for _, r := range lt.Spec.Requests {
		weight := int32(1)
		if r.Weight != nil {
			weight = *r.Weight
		}
		got[r.Name] = strings.TrimSpace(string(r.HTTP.Method) + " " + r.HTTP.Path + " " + r.HTTP.Body + " " + string('0'+weight))
	}
	want := map[string]string{
		"listItems":     "/v1/items?limit=20  4",
		"createItem":    `POST /v1/items {"kind":"tool","name":"hammer","price":9.5,"tags":["text"]} 1`,
		"getItem":       "/v1/items/3fa85f64-5717-4562-b3fc-2c963f66afa6  4",
		"deleteItem":    "DELETE /v1/items/3fa85f64-5717-4562-b3fc-2c963f66afa6  0",
		"POST /v1/tree": `POST /v1/tree {"left":{"left":{"left":{"left":{"left":{"left":{},"name":"text"},"name":"text"},"name":"text"},"name":"text"},"name":"text"},"name":"text"} 1`,
	}
	same.As(t, "requests", want, got)
}

// A request is made of an operation as documents have them. Each is "METHOD PATH [NAME: VALUE]... BODY".
func TestOpenAPIOperations(t *testing.T) {
	const body, form = "{post: {requestBody: {content: {application/json: {schema: ", "{post: {requestBody: {content: {"
	query := func(parameter string) string {
		return "{get: {parameters: [{name: p, in: query, required: true, " + parameter + "}]}}"
	}
	for name, tt := range map[string]struct{ item, want string }{
		"list":            {query("schema: {type: array, minItems: 2, items: {type: integer}}"), "GET /v1/a?p=1&p=1"},
		"list in one":     {query("explode: false, schema: {type: array, minItems: 2, items: {type: integer}}"), "GET /v1/a?p=1%2C1"},
		"list with pipes": {query("style: pipeDelimited, example: [b, c], schema: {}"), "GET /v1/a?p=b%7Cc"},
		"object":          {query("schema: {type: object, properties: {b: {type: integer}, c: {type: string}}}"), "GET /v1/a?b=1&c=text"},
		"deep object":     {query("style: deepObject, schema: {type: object, properties: {b: {type: integer}}}"), "GET /v1/a?p%5Bb%5D=1"},
		"JSON":            {query("content: {application/json: {schema: {type: object, properties: {b: {type: integer}}}}}"), "GET /v1/a?p=%7B%22b%22%3A1%7D"},
		"large number":    {query("schema: {type: integer, example: 12345678901}"), "GET /v1/a?p=12345678901"},
		"date":            {query("schema: {type: string, format: date, example: 2026-01-31}"), "GET /v1/a?p=2026-01-31"},
		"no schema":       {query("schema: {}"), "GET /v1/a?p=text"},
		"override": {"{parameters: [{name: X-P, in: header, required: true, schema: {type: integer}}, {name: id, in: path, required: true, schema: {type: integer}}], " +
			"get: {parameters: [{name: X-P, in: header, required: true, schema: {type: string}, example: b}, {name: Accept, in: header, required: true, schema: {type: string}}]}}", "GET /v1/a [X-P: b]"},
		"lists elsewhere":     {"{get: {parameters: [{name: X-P, in: header, required: true, schema: {}, example: [b, c]}]}}", "GET /v1/a [X-P: b,c]"},
		"a path with a query": {"{}\n  /a?b=c: " + query("schema: {type: integer}"), "GET /v1/a?b=c&p=1"},
		"JSON without schema": {form + "application/json: {}}}}}", "POST /v1/a [Content-Type: application/json] {}"},
		"a path of AWS":       {"{}\n  '/#Action=List': {get: {}}", "GET /v1/"},
		"server of its own":   {"{servers: [{url: /v2}], get: {}}", "GET /v2/a"},
		"wildcard of status":  {"{get: {responses: {2XX: {description: ok}, '302': {description: other}}}}", "GET /v1/a"},
		"304":                 {"{get: {responses: {'304': {description: same}}}}", "GET /v1/a"},
		"JSON before others":  {form + "application/*+json: {schema: {}}, application/a+json: {schema: {}}, application/json; charset=utf-8: {schema: {type: integer}}}}}}", "POST /v1/a [Content-Type: application/json; charset=utf-8] 1"},
		"any JSON":            {form + "'*/*': {schema: {type: integer}}}}}}", "POST /v1/a [Content-Type: application/json] 1"},
		"form":                {form + "application/x-www-form-urlencoded: {schema: {type: object, properties: {b: {type: array, items: {type: string}}, c: {type: integer}}}}}}}}", "POST /v1/a [Content-Type: application/x-www-form-urlencoded] b=text&c=1"},
		"text of JSON":        {form + "application/json: {example: '{\"b\": 1}\n', schema: {type: object}}}}}}", `POST /v1/a [Content-Type: application/json] {"b": 1}`},
		"either required":     {body + "{type: object, properties: {b: {type: integer}, c: {type: integer}}, anyOf: [{required: [b]}, {required: [c]}]}}}}}}", `POST /v1/a [Content-Type: application/json] {"b":1}`},
		"chosen by mapping":   {body + "{oneOf: [{$ref: '#/components/schemas/Cat'}], discriminator: {propertyName: kind, mapping: {kitty: '#/components/schemas/Cat'}}}}}}}}", `POST /v1/a [Content-Type: application/json] {"kind":"kitty","name":"text"}`},
		"chosen by its base":  {body + "{$ref: '#/components/schemas/B'}}}}}}", `POST /v1/a [Content-Type: application/json] {"b":1,"kind":"B"}`},
		"chosen by name":      {body + "{$ref: '#/components/schemas/Cat'}}}}}}", `POST /v1/a [Content-Type: application/json] {"kind":"Cat","name":"text"}`},
		"contains itself":     {body + "{$ref: '#/components/schemas/Tree'}}}}}}", `POST /v1/a [Content-Type: application/json] {"in":[{"in":[{"in":[],"name":"text"}],"name":"text"}],"name":"text"}`},
		"numbers":             {body + "{properties: {b: {type: integer, minimum: 1, exclusiveMinimum: true}, c: {type: integer, multipleOf: 5, minimum: 6}, d: {type: number, maximum: 1, exclusiveMaximum: true, minimum: 0.5}}}}}}}}", `POST /v1/a [Content-Type: application/json] {"b":2,"c":10,"d":0.75}`},
		"version 3.1":         {body + "{properties: {b: {anyOf: [{type: 'null'}, {type: number, exclusiveMinimum: 3}]}, c: {const: cat}, d: {type: string, examples: [dee]}, e: {type: ['null', integer]}, f: true, g: {anyOf: [{type: object}]}}}}}}}}", `POST /v1/a [Content-Type: application/json] {"b":4,"c":"cat","d":"dee","e":1,"f":"text","g":{}}`},
		"texts":               {body + "{properties: {b: {type: string, example: 12}, c: {type: string, pattern: '^[A-Z]{2}-\\d+(x|y)?$', minLength: 5}, d: {type: string, pattern: '(?!a)'}, e: {enum: [null, b]}, f: {type: object, default: {}, properties: {g: {type: integer}}}}}}}}}}", `POST /v1/a [Content-Type: application/json] {"b":"12","c":"AA-1x","d":"text","e":"b","f":{"g":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.FromOpenAPI([]byte("openapi: 3.1.0\ninfo: {title: a, version: 1.0}\nservers: [{url: '//a:{port}/v1', variables: {port: {default: 8443}}}]\npaths:\n  /a: " + tt.item + `
components:
  schemas:
    Pet: {type: object, required: [kind], properties: {kind: {type: string}}, discriminator: {propertyName: kind}}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, required: [name], properties: {name: {type: string}}}]}
    Base: {type: object, properties: {kind: {type: string}}, oneOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/B'}], discriminator: {propertyName: kind}}
    A: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {a: {type: integer}}}]}
    B: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {b: {type: integer}}}]}
    Tree: {type: object, required: [in, name], properties: {name: {type: string}, in: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
`))
			lt, _ := accepted(t, d, err)
			r := lt.Spec.Requests[0]
			words := []string{cmp.Or(string(r.HTTP.Method), "GET"), r.HTTP.Path}
			for _, h := range r.HTTP.Headers {
				words = append(words, "["+h.Name+": "+*h.Value+"]")
			}
			if r.HTTP.Body != "" {
				words = append(words, strings.ReplaceAll(r.HTTP.Body, "$$", "$"))
			}
			if same.As(t, "request", tt.want, strings.Join(words, " ")); r.Expect != nil {
				t.Errorf("expects %v", r.Expect.Status)
			}
		})
	}
}

// A schema that contains itself many times over ends.
func TestOpenAPIBounded(t *testing.T) {
	var properties strings.Builder
	for i := range 60 {
		properties.WriteString("        p" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + ": {$ref: '#/components/schemas/A'}\n")
	}
	doc := "openapi: 3.0.0\ninfo: {title: a, version: '1'}\nservers: [{url: 'http://a'}]\npaths:\n  /a:\n    post:\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}\n      responses: {'200': {description: ok}}\n" +
		"components:\n  schemas:\n    A:\n      type: object\n      properties:\n" + properties.String()
	d, err := draft.FromOpenAPI([]byte(doc))
	accepted(t, d, err)
}

func TestOpenAPIRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ doc, want string }{
		"version 2":     {"swagger: '2.0'\npaths: {}\n", `must have version 3, it has "2.0"`},
		"no paths":      {"openapi: 3.0.0\ninfo: {title: a, version: '1'}\n", "has no paths"},
		"no operations": {"openapi: 3.0.0\npaths: {}\n", "has no operations"},
		"no document":   {"[", "cannot be read"},
		"another file":  {"openapi: 3.0.0\npaths:\n  /a: {$ref: 'file:///etc/passwd'}\n", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := draft.FromOpenAPI([]byte(tt.doc))
			must.Say(t, err, tt.want)
		})
	}
	d, err := draft.FromOpenAPI([]byte("openapi: 3.0.0\nservers: [{url: /v1}]\npaths: {/a: {get: {responses: {}}}}\n"))
	must.Succeed(t, err)
	_, err = d.Manifest()
	must.Say(t, err, "names no host: say which Service is the target with --service")
}

func TestFromHAR(t *testing.T) {
	d, err := draft.FromHAR(read(t, "session.har"))
	lt, manifest := accepted(t, d, err)
	hides(t, manifest, "cookie")
	if len(lt.Spec.Requests) != 2 || lt.Spec.Target.URL != "https://shop.example.com" {
		t.Fatalf("%d requests to %s:\n%s", len(lt.Spec.Requests), lt.Spec.Target.URL, manifest)
	}
	first, second := lt.Spec.Requests[0], lt.Spec.Requests[1]
	if first.HTTP.Path != "/api/cart" || *first.Weight != 2 || second.HTTP.Method != "POST" || second.HTTP.Body != `{"a": "$$"}` || second.Expect.Status[0] != 409 {
		t.Errorf("%+v\n%+v", first, second)
	}
	for _, want := range []string{"Left out: 1 requests for images", "other hosts (https://ads.example.com)"} {
		if !strings.Contains(manifest, want) {
			t.Errorf("the manifest does not say %q", want)
		}
	}
	if len(lt.Spec.Target.Headers) != 1 || lt.Spec.Target.Headers[0].Name != "Cookie" {
		t.Errorf("shared headers %+v, want the cookie of both", lt.Spec.Target.Headers)
	}
}

// What exporters write beside what browsers do.
func TestFromHAREntries(t *testing.T) {
	const answered = `, "response": {"status": 200}}`
	for name, tt := range map[string]struct {
		entries string
		want    v1beta1.HTTPRequest
		says    string
	}{
		"fields of a form": {`{"request": {"method": "post", "url": "http://shop/a", "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "c&d"}, {"name": "e", "value": ""}]}}` + answered,
			v1beta1.HTTPRequest{Method: "POST", Path: "/a", Body: "a+b=c%26d&e=", Headers: headers("Content-Type", "application/x-www-form-urlencoded")}, ""},
		"query apart":           {`{"request": {"method": "GET", "url": "http://shop/a", "queryString": [{"name": "q", "value": "x y"}]}` + answered, v1beta1.HTTPRequest{Path: "/a?q=x+y"}, ""},
		"query twice":           {`{"request": {"method": "GET", "url": "http://shop/a?q=x%20y", "queryString": [{"name": "q", "value": "x%20y"}]}` + answered, v1beta1.HTTPRequest{Path: "/a?q=x%20y"}, ""},
		"no text of the body":   {`{"request": {"method": "PUT", "url": "http://shop/a", "bodySize": 9}` + answered, v1beta1.HTTPRequest{Method: "PUT", Path: "/a"}, "Its body is left out"},
		"another host":          {`{"request": {"method": "GET", "url": "http://10.0.0.1/a", "headers": [{"name": "Host", "value": "shop"}]}` + answered, v1beta1.HTTPRequest{Path: "/a", Headers: headers("Host", "shop")}, ""},
		"the host":              {`{"request": {"method": "GET", "url": "http://shop/a", "headers": [{"name": "Host", "value": "shop"}]}` + answered, v1beta1.HTTPRequest{Path: "/a"}, ""},
		"what cannot be sent":   {`{"request": {"method": "PROPFIND", "url": "http://shop/b?a=s3cr3t"}` + answered + `, {"request": {"method": "GET", "url": "http://shop/a"}` + answered, v1beta1.HTTPRequest{Path: "/a"}, "Left out: 1 requests that a LoadTest cannot have, the first of them PROPFIND /b: method PROPFIND"},
		"refused, and then not": {`{"request": {"method": "GET", "url": "http://shop/a"}, "response": {"status": 401}}, {"request": {"method": "GET", "url": "http://shop/a"}` + answered, v1beta1.HTTPRequest{Path: "/a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.FromHAR([]byte("\uFEFF" + `{"log": {"entries": [` + tt.entries + `]}}`))
			lt, manifest := accepted(t, d, err)
			same.As(t, "request", &tt.want, lt.Spec.Requests[0].HTTP)
			if hides(t, manifest); !strings.Contains(manifest, tt.says) || lt.Spec.Requests[0].Expect != nil {
				t.Errorf("it does not say %q, or expects a status:\n%s", tt.says, manifest)
			}
		})
	}
	_, err := draft.FromHAR([]byte(`{"log": {"entries": [{"request": {"method": "PROPFIND", "url": "http://shop/b"}}]}}`))
	must.Say(t, err, "the HAR file: PROPFIND /b: method PROPFIND is not one of GET")
}

// A redirect that was recorded is expected. 304 is the answer to a header that is not sent.
func TestFromHARExpectsRedirectsThatWereRecorded(t *testing.T) {
	for status, want := range map[int][]int32{200: nil, 302: {302}, 304: nil, 404: {404}} {
		har := fmt.Sprintf(`{"log": {"entries": [{"request": {"method": "GET", "url": "http://shop/abc"}, "response": {"status": %d}}]}}`, status)
		d, err := draft.FromHAR([]byte(har))
		lt, manifest := accepted(t, d, err)
		var got []int32
		if e := lt.Spec.Requests[0].Expect; e != nil {
			got = e.Status
		}
		if !slices.Equal(got, want) {
			t.Errorf("answered with %d, %d is expected, want %d:\n%s", status, got, want, manifest)
		}
	}
}

func TestFromVegeta(t *testing.T) {
	t.Chdir("testdata")
	for _, file := range []string{"targets.txt", "targets.jsonl"} {
		data := must.ReadFile(t, file)
		d, err := draft.FromVegeta(data)
		lt, manifest := accepted(t, d, err)
		hides(t, manifest, "authorization")
		if len(lt.Spec.Requests) != 2 || *lt.Spec.Requests[0].Weight != 2 || lt.Spec.Requests[1].HTTP.Body != "{\"name\": \"hammer\"}\n" {
			t.Errorf("%s:\n%s", file, manifest)
		}
	}
	d, err := draft.FromVegeta([]byte("GET http://10.0.0.1/a\nHost: shop\n"))
	lt, _ := accepted(t, d, err)
	same.As(t, "headers", headers("Host", "shop"), lt.Spec.Requests[0].HTTP.Headers)
	d, err = draft.FromVegeta([]byte(`{"method": "GET", "url": "http://shop/a"}`))
	accepted(t, d, err)
	_, err = draft.FromVegeta([]byte("FETCH\n"))
	must.Say(t, err, "the targets file cannot be read: bad target")
}

// More requests than a LoadTest may have: the rarest are left out, and that is said.
func TestTooManyRequests(t *testing.T) {
	var file strings.Builder
	for i := range 40 {
		for range 1 + i%3 {
			file.WriteString("GET http://shop/" + strings.Repeat("a", i+1) + "\n\n")
		}
	}
	d, err := draft.FromVegeta([]byte(file.String()))
	lt, manifest := accepted(t, d, err)
	if len(lt.Spec.Requests) != 32 || !strings.Contains(manifest, "Left out: 8 of 40 requests") || !strings.Contains(manifest, "names by targets") {
		t.Errorf("%d requests:\n%s", len(lt.Spec.Requests), manifest[:800])
	}
}

// Whatever the bytes of a request, what is written is valid and says the same, or it is
// refused.
func TestAnyRequestIsWrittenTrulyOrRefused(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	alphabet := []rune("az09 \t\n\r'\"$${}#:&*!|>%@`,[]?-\\~é漢\u0085\u2028\x00\x1b=yesnull")
	word := func(n int) string {
		var b strings.Builder
		for range random.Intn(n) {
			b.WriteRune(alphabet[random.Intn(len(alphabet))])
		}
		return b.String()
	}
	written := 0
	for range 500 {
		d := &draft.Draft{Source: "x" + word(4), Origin: "http://shop", Remarks: []string{word(20)}, Requests: []draft.Request{{
			Name: word(80), Weight: 1, Path: "/" + word(10), Body: word(40), Remark: word(10), Headers: []draft.Header{{Name: "X-" + strings.TrimSpace(word(2)), Value: word(10)}},
		}}}
		want := d.Requests[0]
		data, err := d.Manifest()
		if err != nil {
			continue
		}
		written++
		lt, _ := accepted(t, d, nil)
		unescape := func(text string) string { return strings.ReplaceAll(text, "$$", "$") }
		got := lt.Spec.Requests[0]
		if unescape(got.HTTP.Path) != want.Path || unescape(got.HTTP.Body) != want.Body || unescape(*got.HTTP.Headers[0].Value) != want.Headers[0].Value {
			t.Fatalf("%+v became %+v:\n%s", want, got, data)
		}
	}
	if written < 30 {
		t.Errorf("only %d of 500 were written", written)
	}
}

func TestNamesAreChecked(t *testing.T) {
	for name, tt := range map[string]struct {
		d    draft.Draft
		want string
	}{
		"name":              {draft.Draft{Name: "My_Test"}, "--name must have at most 52 lower-case letters"},
		"service":           {draft.Draft{Service: "shop:"}, "--service must be NAME or NAME:PORT"},
		"no cron":           {draft.Draft{Schedule: "nightly"}, "--schedule must have the five fields of cron"},
		"interval":          {draft.Draft{Schedule: "@every 1h"}, "--schedule must have the five fields of cron"},
		"time zone":         {draft.Draft{Schedule: "TZ=Europe/Berlin 0 2 * * *"}, "--schedule must have the five fields of cron"},
		"a schedule's name": {draft.Draft{Schedule: "@daily", Name: strings.Repeat("n", 42)}, "at most 41 letters"},
	} {
		tt.d.Source, tt.d.Origin, tt.d.Requests = "a test", "http://shop", []draft.Request{{Path: "/", Weight: 1}}
		if _, err := tt.d.Manifest(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	d := draft.Draft{Source: "a test", Service: "shop:http", Origin: "https://shop.example.com", Requests: []draft.Request{{Path: "/", Weight: 1}}}
	lt, _ := accepted(t, &d, nil)
	if s := lt.Spec.Target.Service; s == nil || s.Name != "shop" || s.Port.StrVal != "http" || s.Scheme != v1beta1.SchemeHTTPS {
		t.Errorf("service %+v", s)
	}
}
