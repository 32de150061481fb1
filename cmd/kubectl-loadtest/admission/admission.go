package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/config/crd"
)

// Admission applies the definition of LoadTests, or of LoadTestSchedules.
type Admission struct {
	structure *schema.Structural
	schema    validation.SchemaValidator
	rules     *cel.Validator
}

// The rules of a definition take most of a second to compile, once in a process.
var (
	loadTests = sync.OnceValues(func() (*Admission, error) { return read(crd.LoadTests) })
	schedules = sync.OnceValues(func() (*Admission, error) { return read(crd.Schedules) })
)

// OfLoadTests is that of the definition of LoadTests. It may be used by several goroutines.
func OfLoadTests() (*Admission, error) { return loadTests() }

// OfSchedules is that of the definition of LoadTestSchedules.
func OfSchedules() (*Admission, error) { return schedules() }

func read(definition []byte) (*Admission, error) {
	props, err := properties(definition)
	if err != nil {
		return nil, fmt.Errorf("read a definition: %w", err)
	}
	structure, err := schema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("read the schema of a definition: %w", err)
	}
	checker, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("read the schema of a definition: %w", err)
	}
	return &Admission{structure: structure, schema: checker, rules: cel.NewValidator(structure, true, celconfig.PerCallLimit)}, nil
}

// properties is the schema of the definition's only version.
func properties(definition []byte) (*apiextensions.JSONSchemaProps, error) {
	var read apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(definition, &read); err != nil {
		return nil, err
	}
	if n := len(read.Spec.Versions); n != 1 {
		return nil, fmt.Errorf("it has %d versions", n)
	}
	props := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(read.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil)
	return props, err
}

// Admit returns the LoadTest as it would be stored, or the API server's refusal. The
// manifest is not changed; a status in it is dropped.
func (a *Admission) Admit(ctx context.Context, manifest *unstructured.Unstructured) (*v1beta1.LoadTest, error) {
	object := manifest.DeepCopy()
	switch unknown, malformed := a.unknown(object); {
	case len(unknown) > 0:
		return nil, unknownFields(unknown)
	case malformed != nil:
		return nil, malformed
	}
	lt := &v1beta1.LoadTest{}
	errs, err := a.store(ctx, object, lt)
	switch {
	case len(errs) > 0:
		return nil, apierrors.NewInvalid(object.GroupVersionKind().GroupKind(), object.GetName(), errs)
	case err != nil:
		return nil, err
	}
	return lt, nil
}

// store reads an object without unknown fields as it would be stored. into is a pointer to its type.
func (a *Admission) store(ctx context.Context, object *unstructured.Unstructured, into any) (field.ErrorList, error) {
	delete(object.Object, "status")
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, a.structure)
	defaulting.Default(object.Object, a.structure)
	if errs := a.validate(ctx, object); len(errs) > 0 {
		return errs, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil, nil
}

// unknownFields says it as the API server does.
func unknownFields(paths []string) error {
	said := make([]string, len(paths))
	for i, path := range paths {
		said[i] = fmt.Sprintf("unknown field %q", path)
	}
	return errors.New("strict decoding error: " + strings.Join(said, ", "))
}

// validate checks in the API server's order: the rules only of what has the right form.
func (a *Admission) validate(ctx context.Context, object *unstructured.Unstructured) field.ErrorList {
	errs := metavalidation.ValidateObjectMetaAccessor(object, true, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validation.ValidateCustomResource(nil, object.Object, a.schema)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structure, object.Object)...)
	if hasWrongForm(errs) {
		return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	}
	broken, _ := a.rules.Validate(ctx, nil, a.structure, object.Object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

func hasWrongForm(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
