// Package form writes the report of a LoadTest in each of its forms: text, Markdown, HTML, JSON,
// YAML, JUnit, and the formats of HdrHistogram and vegeta.
package form
