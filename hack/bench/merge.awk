# Reads what go test prints of BenchmarkSecond, and prints the median of what a second costs
# for each kind of merge; it fails if one of 1 or of 32 requests, with or without the bracket,
# costs more than 50 ms.
/^Benchmark/ { for (i = 2; i <= NF; i++) if ($i == "cpu-ms/second") values[$1] = values[$1] " " $(i-1) }
function median(list,  v, n, i, j, x) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j-1] + 0; j--) { x = v[j]; v[j] = v[j-1]; v[j-1] = x }
	return v[int((n + 1) / 2)]
}
END {
	for (name in values) {
		m = median(values[name])
		if (name ~ /32x312.ideal/) manyIdeal = m; else if (name ~ /ideal/) ideal = m; else if (name ~ /1e4/) one = m; else if (name ~ /ledgers/) last = m; else many = m
	}
	printf "bench-merge: workers=1000 requests=32 ledger=at-the-end last-second-cpu-ms=%.0f\n", last
	printf "bench-merge: workers=1000 requests=1 cpu-ms-per-second=%.0f brackets=%.0f requests=32 cpu-ms-per-second=%.0f brackets=%.0f bar-ms=50\n", one, ideal, many, manyIdeal
	exit !(one && one <= 50 && ideal && ideal <= 50 && many && many <= 50 && manyIdeal && manyIdeal <= 50)
}
