package http

import (
	"fmt"
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// problem is an error in OpenAI's form.
type problem struct {
	status  int
	headers []reply.Header

	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// write answers with the problem.
func (p *problem) write(w http.ResponseWriter) {
	body := struct {
		Error *problem `json:"error"`
	}{p}
	reply.Reply{Status: p.status, Headers: p.headers, Body: body}.Write(w)
}

// invalid is a request that must be changed; param is the field, if it is one.
func invalid(param, format string, args ...any) *problem {
	p := &problem{status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
	if param != "" {
		p.Param = &param
	}
	return p
}

// as gives a problem another status, and a code.
func (p *problem) as(status int, code string) *problem {
	p.status, p.Code = status, &code
	return p
}
