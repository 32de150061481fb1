package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
		Method   string    `json:"method"`
		URL      string    `json:"url"`
		Headers  []harPair `json:"headers"`
		PostData *struct {
			MimeType string `json:"mimeType"`
			Text     string `json:"text"`
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
}

// FromHAR reads the requests that a browser has recorded. The host that was asked most
// often is the target; files that belong to a page, such as images, are left out.
func FromHAR(data []byte) (*Draft, error) {
	var archive har
	if err := json.Unmarshal(data, &archive); err != nil {
		return nil, fmt.Errorf("the HAR file is not JSON: %w", err)
	}
	if len(archive.Log.Entries) == 0 {
		return nil, errors.New("the HAR file has no log.entries")
	}
	d := &Draft{Source: "a HAR file"}
	byOrigin, origins, files := map[string][]Request{}, []string(nil), 0
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
		if byOrigin[origin] == nil {
			origins = append(origins, origin)
		}
		byOrigin[origin] = append(byOrigin[origin], e.request(path))
	}
	if len(origins) == 0 {
		return nil, errors.New("the HAR file has only requests for files of a page")
	}
	d.Origin = slices.MaxFunc(origins, func(a, b string) int { return len(byOrigin[a]) - len(byOrigin[b]) })
	d.Requests = merge(byOrigin[d.Origin])
	d.leftOut(files, origins)
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

func (e *harEntry) request(path string) Request {
	r := Request{Weight: 1, Method: e.Request.Method, Path: path}
	for _, h := range e.Request.Headers {
		if !strings.EqualFold(h.Name, "referer") {
			r.setHeader(header(h.Name, h.Value))
		}
	}
	if post := e.Request.PostData; post != nil {
		r.Body = post.Text
		if post.MimeType != "" {
			r.setDefault("Content-Type", post.MimeType)
		}
	}
	// 304 is left out, as what it was the answer to is not sent: If-None-Match.
	if s := e.Response.Status; s >= 300 && s <= 599 && s != http.StatusNotModified {
		r.Status = []int{s}
		r.Remark = fmt.Sprintf("It had status %d when it was recorded, so this status is expected.", s)
	}
	return r
}
