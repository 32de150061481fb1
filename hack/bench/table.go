package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is written as Markdown that is also readable as it is.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

// row adds a row; cells that are missing are empty.
func (t *table) row(cells ...any) {
	row := make([]string, len(t.head))
	for i := range min(len(cells), len(row)) {
		row[i] = fmt.Sprint(cells[i])
	}
	t.rows = append(t.rows, row)
}

func (t *table) write(w io.Writer) {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
	}
	line(t.head)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
}

// digits is a number without needless ones.
func digits(v float64, n int) string { return fmt.Sprintf("%.*f", n, v) }
