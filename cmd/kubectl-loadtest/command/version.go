package command

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Version is that of the release; a release build sets it with
// -ldflags "-X .../command.Version=v1.2.3".
var Version = "dev"

func (c *config) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this plugin and of the API that it speaks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.streams.Out, "kubectl-loadtest %s, API %s, %s %s/%s\n", Version, v1beta1.GroupVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
