package recipe

// k6 is what k6-operator calls in the containers that it starts: k6 and a shell in its initializer
// and runners, a shell and curl in its starter.
func k6() *Debian {
	return &Debian{
		Packages:   []string{"curl", "dash", "coreutils", "grep"},
		Command:    []string{"k6"},
		Components: []string{"k6"},
	}
}

// locust is Python with the packages of PyPI that bench-shop has, too.
func locust() *Debian {
	return &Debian{
		Packages:     []string{"python3", "libstdc++6", "dash", "coreutils"},
		Command:      []string{"locust"},
		Requirements: "hack/bench/shop/requirements.txt",
		Scripts: map[string]string{
			"usr/bin/locust": "#!/bin/sh\nexport PYTHONPATH=/" + PythonFolder + " PYTHONDONTWRITEBYTECODE=1\nexec python3 -m locust \"$@\"\n",
		},
	}
}
