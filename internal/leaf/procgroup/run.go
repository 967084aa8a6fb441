package procgroup

import (
	"context"
	"os/exec"
	"runtime"
)

// Run starts cmd and waits for it. When ctx ends, all processes of the group are killed. The error is
// that of the start or of cmd.Wait, not that of ctx.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	runtime.LockOSThread() // see the package's comment
	defer runtime.UnlockOSThread()
	group, err := Start(cmd)
	if err != nil {
		return err
	}
	defer group.Release()
	defer context.AfterFunc(ctx, group.Kill)()
	return cmd.Wait()
}
