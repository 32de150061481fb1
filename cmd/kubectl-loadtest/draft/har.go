package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// har is what is read of an HTTP archive, version 1.2.
type har struct {
	Log struct {
		Entries []harEntry `json:"entries"`
	} `json:"log"`
}

type harEntry struct {
	ResourceType string `json:"_resourceType"`
	Request      struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		Headers     []harPair `json:"headers"`
		QueryString []harPair `json:"queryString"`
		Cookies     []harPair `json:"cookies"`
		BodySize    int64     `json:"bodySize"`
		PostData    *struct {
			MimeType string    `json:"mimeType"`
			Text     string    `json:"text"`
			Params   []harPair `json:"params"`
		} `json:"postData"`
	} `json:"request"`
	Response struct {
		Status  int `json:"status"`
		Content struct {
			MimeType string `json:"mimeType"`
		} `json:"content"`
	} `json:"response"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// FileName is that of a file in a form.
	FileName string `json:"fileName"`
}

// FromHAR reads the requests that a browser has recorded. The host that was asked most
// often is the target; files that belong to a page, such as images, are left out.
func FromHAR(data []byte) (*Draft, error) {
	var archive har
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &archive); err != nil {
		return nil, fmt.Errorf("the HAR file is not JSON: %w", err)
	}
	if len(archive.Log.Entries) == 0 {
		return nil, errors.New("the HAR file has no log.entries")
	}
	d := &Draft{Source: "a HAR file"}
	byOrigin, origins, files := map[string][]Request{}, []string(nil), 0
	var refused []error
	for i := range archive.Log.Entries {
		e := &archive.Log.Entries[i]
		origin, path, _, err := address(e.Request.URL)
		switch {
		case err != nil:
			continue // a data: or chrome-extension: URL, which no server was asked for
		case e.isFile():
			files++
			continue
		}
		r := e.request(origin, path)
		if err := r.check(); err != nil {
			refused = append(refused, fmt.Errorf("%s %s: %w", r.Method, short(pathOnly(r.Path)), err))
			continue
		}
		if byOrigin[origin] == nil {
			origins = append(origins, origin)
		}
		byOrigin[origin] = append(byOrigin[origin], r)
	}
	switch {
	case len(origins) == 0 && len(refused) > 0:
		return nil, fmt.Errorf("the HAR file: %w", refused[0])
	case len(origins) == 0:
		return nil, errors.New("the HAR file has only requests for files of a page")
	}
	d.Origin = slices.MaxFunc(origins, func(a, b string) int { return len(byOrigin[a]) - len(byOrigin[b]) })
	d.Requests = merge(byOrigin[d.Origin])
	d.leftOut(files, origins)
	if len(refused) > 0 {
		d.Remarks = append(d.Remarks, fmt.Sprintf("Left out: %d requests that a LoadTest cannot have, the first of them %v.", len(refused), refused[0]))
	}
	return d, nil
}

func (d *Draft) leftOut(files int, origins []string) {
	if files > 0 {
		d.Remarks = append(d.Remarks, fmt.Sprintf("Left out: %d requests for images, fonts, style sheets and scripts.", files))
	}
	others := slices.DeleteFunc(slices.Clone(origins), func(o string) bool { return o == d.Origin })
	if len(others) > 0 {
		d.Remarks = append(d.Remarks, fmt.Sprintf("Left out: requests to other hosts (%s); a LoadTest has one target.", strings.Join(others, ", ")))
	}
}

// isFile says whether the response belongs to a page, and is no page or data itself.
func (e *harEntry) isFile() bool {
	if slices.Contains([]string{"image", "font", "stylesheet", "script", "media", "websocket"}, e.ResourceType) {
		return true
	}
	mime := e.Response.Content.MimeType
	return strings.HasPrefix(mime, "image/") || strings.HasPrefix(mime, "font/") || strings.HasPrefix(mime, "video/") ||
		strings.HasPrefix(mime, "text/css") || strings.Contains(mime, "javascript")
}

func (e *harEntry) request(origin, path string) Request {
	r := Request{Weight: 1, Method: strings.ToUpper(e.Request.Method), Path: path}
	// Insomnia writes the query, and cookies, only in lists.
	if len(e.Request.QueryString) > 0 && !strings.Contains(path, "?") {
		r.Path += "?" + urlencoded(e.Request.QueryString)
	}
	for _, h := range e.Request.Headers {
		switch strings.ToLower(h.Name) {
		case "referer":
		case "host":
			r.setHost(h.Value, origin)
		default:
			r.setHeader(header(h.Name, h.Value))
		}
	}
	if len(e.Request.Cookies) > 0 {
		r.setDefault("Cookie", "")
	}
	e.addBody(&r)
	// 304 is left out, as what it was the answer to is not sent: If-None-Match.
	if s := e.Response.Status; s >= 300 && s <= 599 && s != http.StatusNotModified {
		r.Status = []int{s}
		r.Remark = join(r.Remark, fmt.Sprintf("It had status %d when it was recorded, so this status is expected.", s))
	}
	return r
}

// addBody takes the text of a body, else the fields of a form.
func (e *harEntry) addBody(r *Request) {
	if post := e.Request.PostData; post != nil {
		isFile := func(p harPair) bool { return p.FileName != "" }
		r.Body = post.Text
		if r.Body == "" && strings.HasPrefix(post.MimeType, "application/x-www-form-urlencoded") && !slices.ContainsFunc(post.Params, isFile) {
			r.Body = urlencoded(post.Params)
		}
		if post.MimeType != "" {
			r.setDefault("Content-Type", post.MimeType)
		}
	}
	if r.Body == "" && (e.Request.BodySize > 0 || e.Request.PostData != nil && len(e.Request.PostData.Params) > 0) {
		r.Remark = "Its body is left out: the HAR file does not have its text."
	}
}

func urlencoded(fields []harPair) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = url.QueryEscape(f.Name) + "=" + url.QueryEscape(f.Value)
	}
	return strings.Join(list, "&")
}
