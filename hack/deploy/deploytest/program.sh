#!/bin/sh
# Stands for kubectl and helm: it notes how it was called, and runs the answers of the
# test, each of which looks whether the call begins with its words.
call="${0##*/} $*"
echo "$call" >> "$TRANSCRIPT"
for answer in "$ANSWERS"/*; do
	if [ -f "$answer" ]; then . "$answer"; fi # there may be none
done
