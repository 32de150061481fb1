package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// repository is where links lead that are about the source.
const repository = "https://github.com/loadtest-dev/loadtest-operator/blob/main/"

func main() {
	from := flag.String("from", "docs", "the folder of the pages")
	out := flag.String("out", filepath.Join("bin", "docs"), "the folder for the site, which is written anew")
	source := flag.String("repository", repository, "where the files of the repository can be read, with a / at the end")
	flag.Parse()
	if err := render(*from, *out, *source); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
	fmt.Println(filepath.Join(*out, "index.html"))
}
