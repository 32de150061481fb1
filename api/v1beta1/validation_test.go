package v1beta1_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// validation is a rule of the API, seen from both sides of it.
type validation struct {
	name    string
	valid   string   // a patch of the base's spec that is accepted
	invalid string   // one that is not
	want    []string // all that the user is told then
}

// validations has a row for every CEL rule, and for the patterns, enums and
// bounds that people meet most.
var validations = slices.Concat(loadsValidations, inALoad(slices.Concat(loadValidations, usersValidations, searchValidations)), trafficValidations, otherTargetValidations, loginValidations, preflightValidations, dataValidations, loadValidations, usersValidations, searchValidations, replayValidations, thresholdValidations, auditValidations, baselineValidations, selectorValidations, versusValidations, objectiveValidations, journeyValidations, traceValidations, grpcValidations, webSocketValidations)

func TestEveryRuleRefusesAndSaysWhy(t *testing.T) {
	holdValidations(t, base, validations)
}

// holdValidations creates both sides of each row.
func holdValidations(t *testing.T, base string, rows []validation) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			must.Report(t, row.valid+" is refused", c.Create(t.Context(), patched(t, base, namespace, row.valid), client.DryRunAll))
			err := c.Create(t.Context(), patched(t, base, namespace, row.invalid), client.DryRunAll)
			same.As(t, "refusals of "+row.invalid, row.want, refusals(t, err))
		})
	}
}

func TestNamesFitPodsAndHosts(t *testing.T) {
	holdNames(t, base, map[string][]string{
		strings.Repeat("n", 52): nil,
		strings.Repeat("n", 53): {tooLongName},
		"v1.2":                  {dottedName},
	})
}

// holdNames creates an object under each name, which is not in the spec.
func holdNames(t *testing.T, base string, refused map[string][]string) {
	c, namespace := strictClient(t), apiserver.Namespace(t)
	for name, want := range refused {
		object := patched(t, base, namespace, "{}")
		object.SetName(name)
		same.As(t, "refusals of the name "+name, want, refusals(t, c.Create(t.Context(), object, client.DryRunAll)))
	}
}

const dottedName = "metadata: Invalid value: name must not contain a dot: it is the name of a Job, whose pods have it in their host names"

const tooLongName = "metadata: Invalid value: name must be at most 52 characters, so that the names of the worker pods fit"

var index = regexp.MustCompile(`\[[0-9]+\]`)

// TestEveryRuleHasARow finds rules that were added to the types and not here.
func TestEveryRuleHasARow(t *testing.T) {
	told := map[string]bool{tooLongName: true, tooLongLoad: true, dottedName: true, ownName: true}
	for _, rows := range [][]validation{validations, transitions} {
		for _, row := range rows {
			for _, sentence := range row.want {
				told[index.ReplaceAllString(sentence, "[]")] = true
			}
		}
	}
	for _, s := range spellings {
		if len(s.refused) > 0 {
			told[index.ReplaceAllString(s.path+": "+s.message, "[]")] = true
		}
	}
	for _, row := range plannedLoads {
		told[index.ReplaceAllString(row.want, "[]")] = true
	}
	rules := 0
	walk(node{schema: generatedSchema(t, nil), typ: reflect.TypeFor[v1beta1.LoadTest]()}, func(n node) {
		for _, rule := range n.schema.XValidations {
			rules++
			path := strings.TrimPrefix(n.path+rule.FieldPath, ".")
			if !hasRow(told, path, rule.Message) {
				t.Errorf("%s: no row is refused with %q", path, rule.Message)
			}
			if rule.Message == "" {
				t.Errorf("%s: the rule %s has no message", path, rule.Rule)
			}
		}
	})
	if rules < 20 {
		t.Errorf("the schema has %d rules, which is too few to be true", rules)
	}
}

func hasRow(told map[string]bool, path, message string) bool {
	for sentence := range told {
		if strings.HasPrefix(sentence, path+": ") && strings.HasSuffix(sentence, ": "+message) {
			return true
		}
	}
	return false
}

// TestMessagesNameTheField holds the sentences to the style: each names a field,
// and none repeats the path that the API server writes in front of it.
func TestMessagesNameTheField(t *testing.T) {
	walk(node{schema: generatedSchema(t, nil), typ: reflect.TypeFor[v1beta1.LoadTest]()}, func(n node) {
		for _, rule := range n.schema.XValidations {
			path := strings.TrimPrefix(n.path+rule.FieldPath, ".")
			if strings.HasPrefix(rule.Message, path) && strings.Contains(path, ".") {
				t.Errorf("%s: the message repeats its path: %q", path, rule.Message)
			}
			if strings.HasSuffix(rule.Message, ".") || strings.ToLower(rule.Message[:1]) != rule.Message[:1] {
				t.Errorf("%s: the message is not the rest of a sentence: %q", path, rule.Message)
			}
		}
	})
}
