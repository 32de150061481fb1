package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// FormField is a field of a form; Value is a template unless it is Literal.
type FormField struct {
	Name, Value string
	Literal     bool
	// Filename and ContentType are those of a file; without a Filename it is none.
	Filename, ContentType string
}

const contentType = "Content-Type"

// formBody is the body of a form, and its media type: with a file among the fields it is
// multipart/form-data (RFC 7578), else percent-encoded.
func (c compiler) formBody(r *request, fields []FormField) (body *Template, media string, err error) {
	encode := encodedFields
	media = "application/x-www-form-urlencoded"
	if slices.ContainsFunc(fields, func(f FormField) bool { return f.Filename != "" }) {
		boundary := c.boundary(r.name, fields)
		encode = func(f FormField, value *Template) []part { return multipartField(boundary, f, value) }
		media = "multipart/form-data; boundary=" + boundary
		defer func() {
			if err == nil {
				body.parts = append(body.parts, part{literal: "--" + boundary + "--\r\n"})
			}
		}()
	}
	body = &Template{}
	for i, f := range fields {
		value := literal(f.Value)
		if !f.Literal {
			value, err = c.template(r, f.Value, inBody)
		}
		if err == nil && !httpguts.ValidHeaderFieldValue(f.ContentType) {
			err = errors.New("its content type holds a control character")
		}
		if err != nil {
			return nil, "", fmt.Errorf("form[%d]: %w", i, err)
		}
		if i > 0 && !strings.HasPrefix(media, "multipart") {
			body.parts = append(body.parts, part{literal: "&"})
		}
		body.parts = append(body.parts, encode(f, value)...)
	}
	return body, media, nil
}

// encodedFields is a field as application/x-www-form-urlencoded has it.
func encodedFields(f FormField, value *Template) []part {
	parts := []part{{literal: url.QueryEscape(f.Name) + "="}}
	for _, p := range value.parts {
		p.literal, p.encoded = url.QueryEscape(p.literal), true
		parts = append(parts, p)
	}
	return parts
}

// quoted is a name within the quotes of a Content-Disposition, as browsers write it.
var quoted = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")

// multipartField is a field as multipart/form-data has it.
func multipartField(boundary string, f FormField, value *Template) []part {
	head := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + quoted.Replace(f.Name) + `"`
	if f.Filename != "" {
		media := f.ContentType
		if media == "" {
			media = "application/octet-stream"
		}
		head += `; filename="` + quoted.Replace(f.Filename) + "\"\r\n" + contentType + ": " + media
	}
	return slices.Concat([]part{{literal: head + "\r\n\r\n"}}, value.parts, []part{{literal: "\r\n"}})
}

// boundary is a line that no field has, but by an accident of one in 2^128: it follows from the
// seed, so that the same seed gives the same requests, and from what is in the fields.
func (c compiler) boundary(request string, fields []FormField) string {
	h := sha256.New()
	for _, text := range []string{request, fmt.Sprint(fields)} {
		_ = binary.Write(h, binary.BigEndian, int64(len(text))) // a hash takes everything
		h.Write([]byte(text))
	}
	_ = binary.Write(h, binary.BigEndian, c.seed)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// withContentType are the headers with that media type instead of their own.
func withContentType(headers []Header, media string) []Header {
	list := slices.DeleteFunc(slices.Clone(headers), func(h Header) bool { return strings.EqualFold(h.Name, contentType) })
	return append(list, Header{Name: contentType, Value: media, Literal: true})
}

const hexDigits = "0123456789ABCDEF"

// encodeFrom percent-encodes what was appended to a text from an index on, as url.QueryEscape does.
func encodeFrom(text []byte, from int) []byte {
	more := 0
	for _, c := range text[from:] {
		if c != ' ' && !isUnreserved(c) {
			more += 2
		}
	}
	i := len(text) - 1
	text = append(text, make([]byte, more)...)
	for at := len(text); i >= from; i-- {
		switch c := text[i]; {
		case c == ' ':
			at--
			text[at] = '+'
		case isUnreserved(c):
			at--
			text[at] = c
		default:
			at -= 3
			text[at], text[at+1], text[at+2] = '%', hexDigits[c>>4], hexDigits[c&0xf]
		}
	}
	return text
}

// isUnreserved says whether a character stands for itself (RFC 3986, 2.3).
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.~", c) >= 0
}
