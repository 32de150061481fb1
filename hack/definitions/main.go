package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"os"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("give the files of the definitions"))
	}
	for _, path := range os.Args[1:] {
		definition, err := os.ReadFile(path)
		if err == nil {
			err = report(os.Stdout, definition)
		}
		if err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	_, _ = fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// rule is one rule, and what it costs at most in one object.
type rule struct {
	path, text string
	cost       uint64
}

// report writes the size of a definition and the cost of its rules, the five dearest by name.
func report(w io.Writer, definition []byte) error {
	var read apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(definition, &read); err != nil {
		return fmt.Errorf("read a definition: %w", err)
	}
	written, err := json.Marshal(&read)
	if err != nil {
		return fmt.Errorf("write %s: %w", read.Name, err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(read.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return fmt.Errorf("read the schema of %s: %w", read.Name, err)
	}
	rules, err := rulesOf(validation.RootCELContext(&props), &props, "")
	if err != nil {
		return fmt.Errorf("%s: %w", read.Name, err)
	}
	total := uint64(0)
	for _, r := range rules {
		total += r.cost
	}
	share := 100 * float64(total) / validation.StaticEstimatedCRDCostLimit
	_, _ = fmt.Fprintf(w, "definitions: name=%s json-bytes=%d rules=%d rule-cost=%d of-limit=%.1f%%\n", read.Name, len(written), len(rules), total, share)
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Compare(b.cost, a.cost) })
	const named = 5
	for _, r := range rules[:min(named, len(rules))] {
		_, _ = fmt.Fprintf(w, "  %9d  %s: %.90s\n", r.cost, r.path, r.text)
	}
	return nil
}

// rulesOf are the rules of a part of a schema and of all below it.
func rulesOf(context *validation.CELSchemaContext, props *apiextensions.JSONSchemaProps, path string) ([]rule, error) {
	list, err := ownRules(context, props, path)
	if err != nil {
		return nil, err
	}
	add := func(below *validation.CELSchemaContext, props *apiextensions.JSONSchemaProps, path string) {
		if err == nil {
			var more []rule
			more, err = rulesOf(below, props, path)
			list = append(list, more...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		child := props.Properties[name]
		add(context.ChildPropertyContext(&child, name), &child, path+"."+name)
	}
	if props.Items != nil && props.Items.Schema != nil {
		add(context.ChildItemsContext(props.Items.Schema), props.Items.Schema, path+"[]")
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		add(context.ChildAdditionalPropertiesContext(props.AdditionalProperties.Schema), props.AdditionalProperties.Schema, path+"{}")
	}
	return list, err
}

func ownRules(context *validation.CELSchemaContext, props *apiextensions.JSONSchemaProps, path string) ([]rule, error) {
	if len(props.XValidations) == 0 {
		return nil, nil
	}
	info, err := context.TypeInfo()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	compiled, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.NewExpressionsEnvLoader())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var list []rule
	for i, c := range compiled {
		if c.Error != nil {
			return nil, fmt.Errorf("%s: %s", path, c.Error.Detail)
		}
		times := c.MaxCardinality
		if context.MaxCardinality != nil {
			times = *context.MaxCardinality
		}
		high, cost := bits.Mul64(c.MaxCost, times)
		if high > 0 {
			cost = math.MaxUint64
		}
		list = append(list, rule{path, props.XValidations[i].Rule, cost})
	}
	return list, nil
}
