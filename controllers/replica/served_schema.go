package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Lacking are the fields of LoadTests and LoadTestSchedules that this program writes or
// reads, and the definitions that the API server serves do not have: it would drop them
// from each object without an error, results with them. A kind that is not served at all
// is lacking itself. Every account may read what is asked for.
func Lacking(ctx context.Context, api rest.Interface) ([]string, error) {
	var document struct {
		Components struct {
			Schemas map[string]*servedSchema
		}
	}
	raw, err := api.Get().AbsPath("/openapi/v3/apis", v1beta1.GroupVersion.Group, v1beta1.GroupVersion.Version).
		SetHeader("Accept", "application/json").Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err): // no kind of the group is served
	case err != nil:
		return nil, fmt.Errorf("read which fields the API server serves: %w", err)
	default:
		if err := json.Unmarshal(raw, &document); err != nil {
			return nil, fmt.Errorf("read which fields the API server serves: %w", err)
		}
	}
	var lacking []string
	for _, kind := range []reflect.Type{reflect.TypeFor[v1beta1.LoadTest](), reflect.TypeFor[v1beta1.LoadTestSchedule]()} {
		schema := document.Components.Schemas["dev.loadtest."+v1beta1.GroupVersion.Version+"."+kind.Name()]
		if schema == nil {
			lacking = append(lacking, kind.Name())
			continue
		}
		lacking = append(lacking, schema.lacks(kind, kind.Name())...)
	}
	return lacking, nil
}

// servedSchema is what the API server serves of an object, a list or a value.
type servedSchema struct {
	Properties map[string]*servedSchema
	Items      *servedSchema
	// Everything says that all fields are kept, be they known or not.
	Everything bool `json:"x-kubernetes-preserve-unknown-fields"`
}

// lacks compares the schema with a type. Types of other packages are not compared: they
// have a form of their own in JSON, or come with the API server.
func (s *servedSchema) lacks(kind reflect.Type, path string) []string {
	switch {
	case s == nil || s.Everything:
		return nil
	case kind.Kind() == reflect.Pointer:
		return s.lacks(kind.Elem(), path)
	case kind.Kind() == reflect.Slice:
		return s.Items.lacks(kind.Elem(), path+"[]")
	case kind.Kind() != reflect.Struct || kind.PkgPath() != reflect.TypeFor[v1beta1.LoadTest]().PkgPath():
		return nil
	}
	var lacking []string
	for i := range kind.NumField() {
		field := kind.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below, place := s.Properties[name], path+"."+name
		switch {
		case name == "" && field.Anonymous:
			lacking = append(lacking, s.lacks(field.Type, path)...)
		case name == "" || name == "-":
		case below == nil:
			lacking = append(lacking, place)
		default:
			lacking = append(lacking, below.lacks(field.Type, place)...)
		}
	}
	return lacking
}
