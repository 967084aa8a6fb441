package service

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// OpenCommand returns the command `claude-mem open`: show the viewer in a browser.
func (a *Verbs) OpenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "open [PAGE]",
		Short: "Open the viewer in a browser",
		Long: `Open the viewer in a browser; a worker is started if none runs. PAGE is the path of a
page, as search or "search?q=type:bugfix", or a record: #12 or S3.

The address has a code that lets the browser make changes. It is valid once, for a minute.`,
		Example: "  claude-mem open\n  claude-mem open search\n  claude-mem open --print",
	}
	only := cmd.Flags().Bool("print", false, "print the address and open nothing")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, args []string) error {
		address, err := viewerAddress(ctx, dataDir, strings.Join(args, ""))
		if err != nil {
			return err
		}
		if err := a.Show(map[string]string{"url": address}, func(p *print.Printer) { p.Printf("%s\n", address) }); err != nil || *only || a.JSON {
			return err
		}
		if err := openBrowser(address); err != nil {
			a.Note("no browser could be started (%v): open the address yourself", err)
		}
		return nil
	})
}

// OpenPage shows a page of the viewer in a browser, as `claude-mem open PAGE` does. CodeUnavailable if
// no browser could be started.
func OpenPage(ctx context.Context, dataDir, page string) error {
	address, err := viewerAddress(ctx, dataDir, page)
	if err != nil {
		return err
	}
	if err := openBrowser(address); err != nil {
		return memory.Errorf(memory.CodeUnavailable, "no browser could be started: %w", err).
			WithHint("`claude-mem open --print '" + page + "'` prints the address")
	}
	return nil
}

// viewerAddress starts the worker if none runs and returns an address of its viewer that lets
// a browser in once, within a minute, at a page, "" for the first one. CodeUnavailable if the
// worker has no TCP port.
func viewerAddress(ctx context.Context, dataDir, page string) (string, error) {
	if err := Start(ctx, dataDir); err != nil {
		return "", err
	}
	worker, err := api.FindWorker(dataDir)
	if err != nil {
		return "", err
	}
	if worker.Info.Port == 0 {
		return "", memory.Errorf(memory.CodeUnavailable, "the worker has no TCP port").
			WithHint("`claude-mem config set CLAUDE_MEM_WORKER_PORT 37777`, then `claude-mem worker restart`")
	}
	var code api.OpenCode
	if err := worker.Do(ctx, http.MethodPost, api.OpenPath, nil, &code); err != nil {
		return "", err
	}
	q := url.Values{"code": {code.Code}}
	if to := pagePath(page); to != "/" {
		q.Set("to", to)
	}
	return fmt.Sprintf("http://127.0.0.1:%d/open?%s", worker.Info.Port, q.Encode()), nil
}

// pagePath returns the path of a page: that of a record for its number, "/" for "" and "feed",
// and any other text as a path, also if there is no such page.
func pagePath(page string) string {
	id, err := cli.ParseID(page)
	switch {
	case err == nil && id.Session:
		return fmt.Sprintf("/session/%d", id.Number)
	case err == nil && id.ULID == "":
		return fmt.Sprintf("/observation/%d", id.Number)
	case page == "feed":
		return "/"
	}
	return "/" + strings.TrimLeft(page, "/")
}

// openBrowser opens an address in the user's browser and does not wait for it: no error only
// means that the program which opens it was started.
func openBrowser(address string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", address)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "" {
			return fmt.Errorf("there is no display")
		}
		cmd = exec.Command("xdg-open", address)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
