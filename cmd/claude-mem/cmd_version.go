package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/wire"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  claude-mem version --json",
	}
	a.JSONFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return a.Show(struct {
			Version  string `json:"version"`
			Wire     int    `json:"wire"`
			Go       string `json:"go"`
			OS       string `json:"os"`
			Arch     string `json:"arch"`
			Revision string `json:"revision,omitempty"`
		}{wire.Program, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision()},
			func(p *print.Printer) { p.Printf("%s\n", versionLine()) })
	}
	return cmd
}

// versionLine returns the version for people; --version prints it too.
func versionLine() string {
	return fmt.Sprintf("claude-mem %s (wire %d, %s, %s/%s)", wire.Program, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision returns the commit that the program was built from, "" if the build did not
// record it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
