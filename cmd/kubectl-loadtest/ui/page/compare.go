package page

import (
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/comparison"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
)

// Compare puts finished runs side by side, by the same tables and plots as compare -o html.
func (s Site) Compare(tests []*v1beta1.LoadTest) (*Page, error) {
	compared, err := comparison.New(tests)
	if err != nil {
		return nil, err
	}
	sections, err := compared.Parts()
	if err != nil {
		return nil, err
	}
	return &Page{Kicker: "Side by side", Title: strings.Join(compared.Names(), ", "), Parts: converted(sections), Still: true}, nil
}

func converted(sections []html.Part) []Part {
	var list []Part
	for _, section := range sections {
		list = append(list, Part{Name: section.Name, HTML: section.HTML})
	}
	return list
}
