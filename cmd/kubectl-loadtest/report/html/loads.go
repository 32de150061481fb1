package html

import (
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// sideBySide has what was measured in each load of several, and in all together.
func sideBySide(s *v1beta1.LoadTestStatus, link func(test string) string) table {
	t := table{Title: "Loads", Words: 3, Heads: report.LoadHeads, Rows: report.Loads(s)}
	t.Note = strings.ToUpper(report.LoadsNote[:1]) + report.LoadsNote[1:] + "."
	var apart []string
	for _, test := range report.LoadTests(s) {
		to := ""
		if link != nil {
			to = link(test)
		}
		if to == "" {
			apart = append(apart, test)
		}
		t.Links = append(t.Links, to)
	}
	if len(apart) > 0 {
		t.Note += " Steps and requests are in LoadTests " + strings.Join(apart, ", ") + "."
	}
	return t
}

// loadID is the id of the report of a load in the page of the LoadTest that has it. No name of a load
// has an underscore, so that the ids of two loads, and of their sections, differ.
func loadID(load string) string { return "load_" + load }

// anchors lead to the reports of loads that stand below the report of the LoadTest that has them.
func anchors(lt *v1beta1.LoadTest, loads []*v1beta1.LoadTest) func(test string) string {
	return func(test string) string {
		if !slices.ContainsFunc(loads, func(one *v1beta1.LoadTest) bool { return one.Name == test }) {
			return ""
		}
		return "#" + loadID(report.LoadOf(lt, test).Name)
	}
}

// addLoads adds the reports of the LoadTests of loads, each with the archived results that are its own.
func (v *view) addLoads(lt *v1beta1.LoadTest, archived []*archive.Step, loads []*v1beta1.LoadTest, to *links.Templates) error {
	for _, one := range loads {
		own := slices.DeleteFunc(slices.Clone(archived), func(s *archive.Step) bool { return s.UID != string(one.UID) })
		load, err := viewOf(one, own, Links{})
		if err != nil {
			return err
		}
		load.link(one, to)
		load.Kicker = report.LoadTitle(lt, one.Name)
		l := report.LoadOf(lt, one.Name)
		load.identify(loadID(l.Name))
		v.Loads = append(v.Loads, load)
		v.Contents = append(v.Contents, entry{load.ID, "Load " + l.Name})
	}
	return nil
}

// identify gives the report an id, with which the ids of all its sections begin.
func (v *view) identify(id string) {
	v.ID, v.Prefix = id, id+"_"
	v.Requests.ID, v.Errors.ID = v.Prefix+v.Requests.ID, v.Prefix+v.Errors.ID
	for i := range v.Groups {
		v.Groups[i].ID = v.Prefix + v.Groups[i].ID
	}
	for i := range v.Contents {
		v.Contents[i].ID = v.Prefix + v.Contents[i].ID
	}
}
