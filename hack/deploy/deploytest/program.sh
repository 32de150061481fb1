#!/bin/sh
# Stands for kubectl and helm: it notes how it was called, and answers what the
# test has put into a file of the call's first words.
call="$(basename "$0") $*"
echo "$call" >> "$TRANSCRIPT"
for answer in "$ANSWERS"/*; do
	words="$(basename "$answer" | tr '_:' ' /')"
	case "$call" in
	"$words"*) . "$answer" ;;
	esac
done
