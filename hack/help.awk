# Prints what the Makefile says of its targets: "target: ## text" is a target, "##@ text" a
# heading above some, and "#? text" a line about the variables of the next.
BEGIN { FS = ":.*## "; print "Usage: make <target> [VARIABLE=value]" }
/^##@/ { printf "\n%s\n", substr($0, 5) }
/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $1, $2 }
/^#\? / { printf "  %s\n", substr($0, 4) }
