package main

import (
	"context"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// sessionsShowCommand returns the command `claude-mem sessions show`: show the receipt
// of a session: captured, stored, shown, cost.
func (a *app) sessionsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the receipt of a session: captured, stored, shown, cost",
		Long: `Show the receipt of a session: the captured events and their outcome, the skipped
events and the reasons, the stored records, the records shown to the session, the records
opened later, and the cost. The ID is 12 or S12, the host's id of the session or the
beginning of it, its ULID, or last: the last session of the project that you are in.
` + "`claude-mem show S12`" + ` shows its prompts, summaries and observations.

Opened later are the observations shown to the session or made from it that were read in
full afterwards, by any session.

JSON: as GET /api/sessions/{id}/receipt, {"id", "ulid", "host", "host_session_id", "project",
"project_path", "status", "title", "first_prompt", "started_at_epoch", "updated_at_epoch", "completed_at_epoch"?,
"captured": {"events", "processed", "skipped", "failed", "pending", "processing", "forgotten",
"kinds": [{"kind", "tool"?, "events"}]}, "skipped": [{"reason", "events", "kinds"}], "failed": as
skipped, "redacted": [{"rule", "count"}], "stored": {"prompts", "observations": [{"id", "type",
"title", "prompt_number"}], "summaries": [{"id", "prompt_number"}], "hidden"}, "given": [{"where",
"source", "observations"?, "sessions"?, "layers"?: [{"name", "tokens", "items"?}], "skipped"?: as in
` + "`claude-mem context --preview`" + `, "tokens", "budget", "build_ms", "at"}],
"looked_up": [{"observation", "title", "given", "made", "times", "by_itself", "last_at_epoch"}],
"cost": {"total": SPENT, "providers": [{"name", SPENT}], "models": [{"name", "provider", SPENT}],
"tokens_given", "discovery_tokens"}}; SPENT as in ` + "`claude-mem stats`" + `.`,
		Example: "  claude-mem sessions show S3\n  claude-mem sessions show last --json\n  claude-mem sessions show 0b7c1f6e",
	}
	project := a.ProjectFlag(cmd, ".", "the project of last: a directory or name")
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.NamedSessionChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		where, err := a.ProjectNamed(*project)
		if err != nil {
			return err
		}
		r, err := m.Receipt(ctx, api.ReceiptRequest{Name: given[0], Project: where})
		if err != nil {
			return err
		}
		return a.Show(r, func(p *print.Printer) { p.Receipt(&r) })
	})
}
