package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// advice is what to do about an event whose reason is not that of a condition.
var advice = map[string]string{
	"Finished":         "nothing: the event has the verdict",
	"Missed":           "look at `startingDeadlineSeconds` and `concurrencyPolicy` ([schedules](../schedules.md))",
	"Probed":           "nothing: the search goes on",
	"ResultsNotStored": "look at quotas and admission policies for ConfigMaps; the summary in the status is complete",
	"Started":          "nothing",
}

func main() {
	page, err := write(".")
	if err == nil {
		err = os.WriteFile(filepath.Join("docs", "reference", "messages.md"), []byte(page), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}

// write is the page about the repository at root.
func write(root string) (string, error) {
	entries, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	if err != nil {
		return "", err
	}
	list, err := read(root)
	if err != nil {
		return "", err
	}
	slices.SortFunc(list, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.folder, b.folder), cmp.Compare(a.text, b.text))
	})
	var reasons, others strings.Builder
	special := regexp.MustCompile("[|*_<>\\[\\]`]")
	for _, m := range slices.Compact(list) {
		text := special.ReplaceAllString(strings.Join(strings.Fields(m.text), " "), `\$0`)
		if m.reason == "" {
			fmt.Fprintf(&others, "| %s | %s |\n", m.folder, text)
			continue
		}
		toDo := advice[m.reason]
		if strings.Contains(string(entries), "\n### "+m.reason+"\n") {
			toDo = "[" + m.reason + "](../troubleshooting.md#" + strings.ToLower(m.reason) + ")"
		}
		fmt.Fprintf(&reasons, "| %s | %s | %s |\n", m.reason, text, toDo)
	}
	return "# Messages\n\nEvery sentence that the product says, from its source; `make generate` writes this page. " +
		"\\<A name in angle brackets\\> stands for a value. [Troubleshooting](../troubleshooting.md) quotes whole messages, and says what to do.\n\n" +
		"## With a reason\n\nIn conditions and events.\n\n| reason | text | what to do |\n| --- | --- | --- |\n" + reasons.String() +
		"\n## Others\n\nBy package: rules of the API (`api`), what `controllers` write into the status, into metrics and into " +
		"the log, refusals and errors of a worker (`loadworker`), and help, plans and reports of the command line (`cmd/kubectl-loadtest`). " +
		"A text about a field begins with the field.\n\n| package | text |\n| --- | --- |\n" + others.String(), nil
}
