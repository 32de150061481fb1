# Repeats the ratios that simulations printed, in one line at the end; it fails if a
# simulation did, or if there was none. Each is a test of the package that decides, named
# TestSimulated…, which prints a line "bench-judgement: NAME=RATIO".
{ print; fflush() }
/^bench-judgement: / { line = line " " $2 }
/^FAIL/ { failed = 1 }
END { print "bench-judgement:" line; exit failed || !line }
