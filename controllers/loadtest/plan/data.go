package plan

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

var dataFormats = map[v1beta1.DataFormat]workerv1.DataFormat{
	v1beta1.DataFormatCSV:       workerv1.DataFormat_DATA_FORMAT_CSV,
	v1beta1.DataFormatJSONLines: workerv1.DataFormat_DATA_FORMAT_JSON_LINES,
}

var dataChoices = map[v1beta1.DataChoice]workerv1.DataChoice{
	"":                           workerv1.DataChoice_DATA_CHOICE_UNIFORM,
	v1beta1.DataChoiceUniform:    workerv1.DataChoice_DATA_CHOICE_UNIFORM,
	v1beta1.DataChoiceSequential: workerv1.DataChoice_DATA_CHOICE_SEQUENTIAL,
	v1beta1.DataChoiceZipf:       workerv1.DataChoice_DATA_CHOICE_ZIPF,
}

func data(spec *v1beta1.LoadTestSpec) []*workerv1.Data {
	var list []*workerv1.Data
	for i := range spec.Data {
		d := &spec.Data[i]
		list = append(list, &workerv1.Data{
			Name: d.Name, File: dataFile(d).Path(), Format: dataFormats[d.Format], Choice: dataChoices[d.Choice],
		})
	}
	return list
}

// setup is one worker's share of the setup, which opens so many connections at most; 0: no bound.
func setup(spec *v1beta1.LoadTestSpec, connections, worker, workers int32) *workerv1.Setup {
	if spec.Setup == nil {
		return nil
	}
	w := &workerv1.Setup{Connections: connections}
	if s := spec.Setup.Fill; s != nil {
		w.Fill = &workerv1.Fill{
			Request: requestIndex(spec, s.Request),
			Share:   share(int64(s.Count), worker, workers),
			Capture: map[string]string{},
			Choice:  dataChoices[s.Choice],
		}
		for column, path := range s.Capture {
			w.Fill.Capture[column] = string(path)
		}
	}
	if s := spec.Setup.WarmUp; s != nil {
		w.WarmUp = &workerv1.WarmUp{Request: requestIndex(spec, s.Request), DurationNanos: int64(s.Duration.Duration)}
	}
	return w
}

// requestIndex is the index of the request of that name, -1 if there is none. A
// name by default is no name to refer to: it is not the user's.
func requestIndex(spec *v1beta1.LoadTestSpec, name string) int32 {
	return int32(slices.IndexFunc(spec.Requests, func(r v1beta1.Request) bool { return name != "" && r.Name == name }))
}

// checkSetup refuses requests that are not there.
func checkSetup(spec *v1beta1.LoadTestSpec) *Refusal {
	if spec.Setup == nil {
		return nil
	}
	refer := func(field, name string) *Refusal {
		if requestIndex(spec, name) < 0 {
			return invalid("spec.setup.%s.request: spec.requests has no request named %q.", field, name)
		}
		return nil
	}
	if s := spec.Setup.Fill; s != nil {
		if refusal := refer("fill", s.Request); refusal != nil {
			return refusal
		}
	}
	if s := spec.Setup.WarmUp; s != nil {
		return refer("warmUp", s.Request)
	}
	return nil
}
