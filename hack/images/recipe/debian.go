package recipe

import _ "embed"

// Debian is an image that holds a few Debian packages.
type Debian struct {
	// Packages are extracted together with what they depend on.
	Packages []string
	// Drop are files of the packages that the program does without, as
	// patterns of path.Match; a folder goes with everything in it.
	Drop []string
	// Command runs when the container names no other. Arguments that begin
	// with a dash are added to its first word, as the official images do it:
	// a chart written for those runs these unchanged.
	Command []string
	// StopSignal ends the program; empty means SIGTERM.
	StopSignal string
	// Writable are folders that belong to the image's user; the first is the
	// working folder.
	Writable []string
	// Links are symbolic links, by path.
	Links map[string]string
	// Scripts are programs of our own, by path.
	Scripts map[string]string
	// Components are the outside components whose programs are in usr/local/bin.
	Components []string
	// KafkaJars is the folder for Kafka's jars, if it is to have them.
	KafkaJars string
	// Requirements is a file of requirements of Python, relative to the repository's root, that
	// pins all packages of PyPI; they are in PythonFolder. Empty: none.
	Requirements string
}

const (
	// PythonFolder is where an image has its packages of PyPI.
	PythonFolder = "opt/python"
	// PythonVersion is that of Debian's python3.
	PythonVersion = "3.11"
)

func redis() *Debian {
	return &Debian{
		Packages: []string{"redis-server", "dash", "coreutils"},
		Command:  []string{"redis-server"},
		Writable: []string{"data"},
	}
}

func nginx() *Debian {
	return &Debian{
		Packages: []string{"nginx", "dash", "coreutils"},
		Command:  []string{"nginx", "-g", "daemon off;"},
		// As the official image: at SIGTERM it would drop the requests in flight.
		StopSignal: "SIGQUIT",
		Writable:   []string{"var/lib/nginx", "var/log/nginx", "run"},
		// Nginx opens its compiled-in logs before it reads its
		// configuration; a container's log is its output.
		Links: map[string]string{
			"var/log/nginx/access.log": "/dev/stdout",
			"var/log/nginx/error.log":  "/dev/stderr",
		},
	}
}

// postgres has the programs of the official image in the search path, not
// Debian's wrappers around them, which are in Perl. There is no database in it:
// its user calls initdb for an empty folder.
func postgres() *Debian {
	links := map[string]string{}
	for _, program := range []string{"createdb", "initdb", "pg_ctl", "pg_isready", "postgres", "psql"} {
		links["usr/bin/"+program] = "/usr/lib/postgresql/15/bin/" + program
	}
	return &Debian{
		Packages: []string{"postgresql-15", "dash", "coreutils"},
		// The compiler of queries is larger than all the rest, and pays in
		// queries of seconds only; without it Postgres interprets. Locales are
		// compiled from i18n; C.UTF-8 is there already.
		Drop: []string{
			"usr/lib/*/libLLVM*", "usr/lib/*/libz3*",
			"usr/lib/postgresql/*/lib/bitcode", "usr/lib/postgresql/*/lib/llvmjit*", "usr/share/i18n",
		},
		Command: []string{"postgres"},
		// As the official image: at SIGTERM it would wait for all clients.
		StopSignal: "SIGINT",
		Writable:   []string{"var/lib/postgresql", "run/postgresql"},
		Links:      links,
	}
}

func pgbouncer() *Debian {
	return &Debian{
		Packages: []string{"pgbouncer", "dash", "coreutils"},
		Command:  []string{"pgbouncer", "/etc/pgbouncer/pgbouncer.ini"},
	}
}

// redisExporter and postgresExporter have their programs where those of the official images
// are.
func redisExporter() *Debian {
	return &Debian{
		Packages: []string{"prometheus-redis-exporter", "dash", "coreutils"},
		Command:  []string{"/redis_exporter"},
		Links:    map[string]string{"redis_exporter": "/usr/bin/prometheus-redis-exporter"},
	}
}

func postgresExporter() *Debian {
	return &Debian{
		Packages: []string{"prometheus-postgres-exporter", "dash", "coreutils"},
		Command:  []string{"/bin/postgres_exporter"},
		Links:    map[string]string{"bin/postgres_exporter": "/usr/bin/prometheus-postgres-exporter"},
	}
}

//go:embed kafka.sh
var kafkaScript string

func kafka() *Debian {
	return &Debian{
		Packages: []string{"default-jre-headless", "dash", "coreutils"},
		// Symbols for a compiler, an archive for heaps beyond 32 GB, debuggers;
		// and what draws, prints and plays.
		Drop: []string{
			"usr/lib/jvm/*/lib/ct.sym", "usr/lib/jvm/*/lib/server/classes_nocoops.jsa", "usr/lib/jvm/*/lib/src.zip",
			"usr/lib/debug", "usr/share/gdb", "usr/share/fonts", "usr/share/java", "usr/share/glib-2.0", "usr/share/alsa",
			"usr/lib/*/libgio*", "usr/lib/*/libgtk*", "usr/lib/*/libcups*", "usr/lib/*/libasound*", "usr/lib/*/libgnutls*",
			"usr/lib/*/libavahi*",
		},
		Command:   []string{"kafka"},
		Writable:  []string{"var/lib/kafka"},
		Links:     map[string]string{"usr/bin/java": "/usr/lib/jvm/default-java/bin/java"},
		Scripts:   map[string]string{"usr/bin/kafka": kafkaScript},
		KafkaJars: "opt/kafka/libs",
	}
}
