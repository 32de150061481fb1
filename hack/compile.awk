# Reads what go list and go build -v print while they download modules and compile packages, of which
# there are total, and says how far they are. All other lines are printed as they are.
function now() { srand(); return srand() }
function show(line) { if (terminal) printf "\r%-72s", line; else print line; fflush() }
BEGIN { began = now() }
/^go: downloading / { modules++; if (terminal || modules % 20 == 1) show("download: module " modules); next }
/^[^ ]+$/ && !/^#/ {
	compiled++
	tenth = int(10 * compiled / (total > compiled ? total : compiled))
	if (total < 20 || !terminal && tenth == shown) next
	shown = tenth
	left = int((now() - began) * (total / compiled - 1) + 0.5) # of little that is done, it says nothing
	show(sprintf("compile: %d of %d packages", compiled, total) (tenth ? sprintf(", about %d s left", left > 0 ? left : 0) : ""))
	next
}
{ print; fflush() }
END { if (terminal && (modules || compiled && total >= 20)) printf "\r%-72s\r", "" }
