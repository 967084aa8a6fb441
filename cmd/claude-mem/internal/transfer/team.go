package transfer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/team"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// TeamCommand returns the command `claude-mem team`: what one has learnt, shared through the PostgreSQL of a team.
func (a *Verbs) TeamCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "team",
		Short: "Share what you have learnt with a team",
		Long: `Share records with a team through a PostgreSQL that it runs. Nothing is shared but by
` + "`claude-mem share`" + `. What others share is found and recalled here, with its author.
Who sees what the server's own roles and policies say: docs/teams.md.`,
		Example: "  claude-mem team join postgres://alice@db.example.org/team\n  claude-mem team status",
	}
	return cli.Parent(cmd, a.teamInitCommand(), a.teamJoinCommand(), a.teamStatusCommand(), a.teamPullCommand(), a.teamMuteCommand(), a.teamDoctorCommand(), a.teamLeaveCommand())
}

// teamDone is what the commands about a team print as JSON.
type teamDone struct {
	api.TeamAnswer
	Member string `json:"member,omitempty"`
	Schema int    `json:"schema,omitempty"`
}

func (a *Verbs) teamInitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [ADDRESS]",
		Short: "Set the team's schema up on the server, or bring it up to date",
		Long: `Make or update the schema claude_mem, as a role that can become its owner: an administrator's.
--sql prints what has to be run before that, by psql. The address has no password: PostgreSQL's
usual sources have it (~/.pgpass, PGPASSFILE, PGSERVICE, PGPASSWORD).`,
		Example: "  claude-mem team init --sql | psql postgres://admin@db.example.org/team\n  claude-mem team init postgres://admin@db.example.org/team",
		Args:    cli.Args(cobra.MaximumNArgs(1)),
	}
	statements := cmd.Flags().Bool("sql", false, "print the statements that an administrator runs first")
	return a.WithDataDir(cmd, func(ctx context.Context, _ string, given []string) error {
		if *statements {
			a.People().Printf("%s", team.AdministratorSQL)
			return nil
		}
		before, after, err := team.Init(ctx, strings.Join(given, ""))
		return a.Done(teamDone{Schema: after}, err, func(p *print.Printer) {
			p.Printf("schema %d, before %d. Each person: claude-mem team join ADDRESS\n", after, before)
		})
	})
}

func (a *Verbs) teamJoinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join ADDRESS",
		Short: "Be in the team of a server",
		Long: `Take in what the team shares, and be able to share. ADDRESS is postgres://NAME@HOST/DATABASE or
service=NAME, without a password: PostgreSQL's usual sources have it (~/.pgpass, PGPASSFILE,
PGSERVICE, PGPASSWORD). Nothing leaves by it. A server that is not on this machine has to have a
certificate that can be verified.`,
		Example: "  claude-mem team join postgres://alice@db.example.org/team",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		cfg, err := team.Join(ctx, dataDir, given[0])
		if err != nil {
			return err
		}
		return a.syncTeam(ctx, dataDir, api.TeamRequest{}, cfg.Member, func(p *print.Printer, done *teamDone) {
			p.Printf("You are %s%s. %s of others taken in. What you share: claude-mem share ID…\n", cfg.Member, print.If(cfg.Reader, ", who only reads"), text.GroupedCount(done.Added, "record"))
		})
	})
}

func (a *Verbs) teamStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what is shared, what came from others, and what is wrong",
		Long:    `Show as whom this memory is in its team, how many records are shared and came from whom, and what failed. The server is not asked.`,
		Example: "  claude-mem team status\n  claude-mem team status --json",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		s, err := daemon.ReadTeam(ctx, dataDir)
		return a.Done(s, err, func(p *print.Printer) {
			p.Printf("server   %s\nyou      %s%s\n", print.Line(s.Address, 0), s.Member, print.If(s.Reader, " (reads only)"))
			printSynced(p, s.SyncedAt, print.If(s.Behind > 0, text.Grouped(int(s.Behind))+" behind"), print.Join("; ", s.Fault, s.Hint))
			p.Printf("shared   %d, edited of others %d, not sent yet %d\n", s.Shared, s.Edited, s.Unsent)
			for _, policy := range s.Policies {
				p.Printf("policy   all of %s%s\n", print.Line(policy.Project, 0), print.If(policy.Summaries, ", with summaries"))
			}
			for _, author := range s.Authors {
				p.Printf("from     %s: %d\n", author.Member, author.Records)
			}
			for _, muted := range s.Muted {
				p.Printf("muted    %s\n", print.Line(muted, 0))
			}
			printRefused(p, s.Refused)
		})
	})
}

func (a *Verbs) teamPullCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Exchange records with the server now, or bound what is kept here",
		Long: `Send and take in what is new. --since and --project bound what of others is kept here from now on:
records that were made later, and those of these projects, as github.com/owner/name or a directory.
"--since all" and "--project all" end that. What is beyond the bounds stays on the server.`,
		Example: "  claude-mem team pull\n  claude-mem team pull --since 2w --project .",
	}
	since := cmd.Flags().String("since", "", "keep what was made not earlier than this time, or all")
	projects := cmd.Flags().StringSlice("project", nil, "keep what is of these projects, or all")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		cfg, err := team.Load(dataDir)
		if err != nil {
			return err
		}
		if *since == "all" {
			cfg.Since = 0
		} else if *since != "" {
			if cfg.Since, err = cli.ParseTime(*since, a.Now(), false); err != nil {
				return err
			}
		}
		if len(*projects) > 0 {
			cfg.Projects = nil
			for _, project := range *projects {
				if project == "all" {
					continue
				}
				names, err := a.teamNames(ctx, dataDir, project)
				if err != nil {
					return err
				}
				cfg.Projects = append(cfg.Projects, names...)
			}
		}
		if err := cfg.Save(dataDir); err != nil {
			return err
		}
		return a.syncTeam(ctx, dataDir, api.TeamRequest{}, "", printExchanged)
	})
}

// syncTeam makes a request, and prints what was done by say, then what was refused or failed. member is shown in JSON, if it is not empty.
func (a *Verbs) syncTeam(ctx context.Context, dataDir string, r api.TeamRequest, member string, say func(*print.Printer, *teamDone)) error {
	answer, err := daemon.SyncTeam(ctx, dataDir, r)
	done := teamDone{TeamAnswer: answer, Member: member}
	return a.Done(&done, err, func(p *print.Printer) {
		say(p, &done)
		for _, refused := range answer.Refused {
			a.Note("refused: %s", print.Line(refused, 200))
		}
		if answer.Fault != "" {
			a.Note("Not sent yet, it is tried again: %s", print.Line(answer.Fault, 300))
		}
	})
}

func printExchanged(p *print.Printer, done *teamDone) {
	p.Printf("%s sent, %d added, %d changed, %d erased\n", text.GroupedCount(done.Sent, "record"), done.Added, done.Changed, done.Erased)
}

// acted returns a function that prints how many records it was, and what became of them.
func acted(how string) func(*print.Printer, *teamDone) {
	return func(p *print.Printer, done *teamDone) {
		p.Printf("%s %s\n", text.GroupedCount(done.Acted, "record"), how)
	}
}

// teamNames returns the names that a project has on all machines: those of a directory's project, else the given name itself.
// CodeInvalid for a directory whose project has none, CodeNotFound for a path to no directory.
func (a *Verbs) teamNames(ctx context.Context, dataDir, project string) ([]string, error) {
	switch {
	case cli.IsPath(project) && openfile.IsDir(project):
	case filepath.IsAbs(project) || strings.HasPrefix(project, ".") || strings.HasPrefix(project, "~"):
		return nil, memory.Errorf(memory.CodeNotFound, "there is no directory %.200q", project).WithHint("name a directory, a member of the team, or a project as github.com/owner/name")
	default:
		return []string{project}, nil
	}
	path, err := a.ProjectNamed(project)
	if err != nil {
		return nil, err
	}
	names, err := daemon.ProjectNames(ctx, dataDir, path)
	if err == nil && len(names) == 0 {
		err = errUnnamed
	}
	return names, err
}

var errUnnamed = memory.Errorf(memory.CodeInvalid, "the project has no name on other machines").WithHint("a repository with a remote or a first commit has; `claude-mem projects link DIR NAME` gives one to a directory")

func (a *Verbs) teamMuteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mute AUTHOR|PROJECT",
		Short: "Keep nothing of a member or a project here",
		Long: `Erase from this memory what came from AUTHOR, a member of the team, or is of PROJECT, a directory or
github.com/owner/name, and take in no more of it. With --undo it is taken in again. The team keeps it.`,
		Example: "  claude-mem team mute bob\n  claude-mem team mute --undo bob",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	undo := cmd.Flags().Bool("undo", false, "take it in again")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		cfg, err := team.Load(dataDir)
		if err != nil {
			return err
		}
		of, err := a.teamNames(ctx, dataDir, given[0])
		if err != nil {
			return err
		}
		cfg.Muted = slices.DeleteFunc(cfg.Muted, func(name string) bool { return slices.Contains(of, name) })
		request, say := api.TeamRequest{Anew: *undo}, printExchanged
		if !*undo {
			cfg.Muted = append(cfg.Muted, of...)
			request, say = api.TeamRequest{Action: "drop", Of: of}, acted("erased here. The team keeps them.")
		}
		if err := cfg.Save(dataDir); err != nil {
			return err
		}
		return a.syncTeam(ctx, dataDir, request, "", say)
	})
}

func (a *Verbs) teamDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Look whether the server and your role are as they should be",
		Long:    `Connect to the server, and say what of its version, schema, certificate and of your role's rights is not as it should be.`,
		Example: "  claude-mem team doctor",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		found, err := team.Examine(ctx, dataDir)
		return a.Done(found, err, func(p *print.Printer) {
			p.Printf("server   PostgreSQL %d, %s\n", found.Server, print.Or(found.TLS, "certificate verified", "on this machine"))
			p.Printf("schema   %d\nyou      %s, %s\n", found.Schema, found.Member, print.Or(found.Writes, "reads and shares", "only reads"))
			p.Printf("members  %s\n", print.Line(strings.Join(found.Members, ", "), 0))
		})
	})
}

func (a *Verbs) teamLeaveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Be in no team any more",
		Long: `Erase from this memory what came from others, and forget the server. What you have shared stays there:
` + "`claude-mem unshare`" + ` takes it back before.`,
		Example: "  claude-mem team leave",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		answer, err := daemon.SyncTeam(ctx, dataDir, api.TeamRequest{Action: "drop", All: true})
		if err == nil {
			err = team.File.Remove(dataDir)
		}
		return a.Done(teamDone{TeamAnswer: answer}, err, func(p *print.Printer) {
			p.Printf("%s of others erased here. This memory is in no team.\n", text.GroupedCount(answer.Acted, "record"))
		})
	})
}

// ShareCommand returns the command `claude-mem share`: what leaves for the team.
func (a *Verbs) ShareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "share [ID...]",
		Short: "Share records with your team",
		Long: `Share observations (12), learnings (L3), or the observations and summaries of sessions (S4) with
the team. What leaves is shown, byte for byte, before it is asked for a yes. Prompts and events
never leave, nor do records with words from outside the project or of other members.

--project sets a policy: all observations and learnings of a project are shared, those to come too,
except those of which it is not known whose words they have. unshare --project ends it.`,
		Example: "  claude-mem share 12 L3\n  claude-mem share --query 'rate limiter'\n  claude-mem share --project .",
	}
	query := cmd.Flags().StringP("query", "q", "", "share the observations that a search finds in the project")
	limit := cmd.Flags().Int("limit", 10, "at most so many of a search")
	project := a.ProjectFlag(cmd, "", "share all of this project from now on, by a directory or name")
	summaries := cmd.Flags().Bool("summaries", false, "with --project, summaries of sessions too")
	yes := cmd.Flags().BoolP("yes", "y", false, "share without asking")
	cmd.ValidArgsFunction = cli.Completion(a.RecordChoices())
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		r, err := a.shareRequest(ctx, m, given, *query, *project, *limit, *summaries)
		if err != nil {
			return err
		}
		m.Close()
		r.Action = "drafts"
		drafts, err := daemon.SyncTeam(ctx, m.DataDir, r)
		if err != nil {
			return err
		}
		leave := collect.Count(drafts.Drafts, func(d care.TeamDraft) bool { return d.Refused == "" })
		if !a.JSON {
			a.printDrafts(drafts.Drafts)
		}
		if leave == 0 && r.Project == "" {
			return memory.Errorf(memory.CodeInvalid, "nothing of it can be shared").WithHint("`claude-mem share --help` says what leaves")
		}
		if !*yes {
			ok, err := a.Confirm(fmt.Sprintf("Share %s with the team%s?", text.Count(leave, "record"), print.If(r.Project != "", ", and what comes of the project")))
			if err != nil || !ok {
				return err
			}
		}
		if r.Project != "" {
			err = setPolicy(ctx, m.DataDir, r.Project, &team.Policy{Summaries: *summaries})
		}
		if err != nil {
			return err
		}
		r.Action, r.Digest = "shared", drafts.Digest
		return a.syncTeam(ctx, m.DataDir, r, "", acted("shared"))
	})
}

// shareRequest returns what the arguments and flags of share select.
func (a *Verbs) shareRequest(ctx context.Context, m *access.Memory, given []string, query, project string, limit int, summaries bool) (r api.TeamRequest, err error) {
	if project != "" && query == "" && len(given) == 0 {
		r.Project, err = a.ProjectOr(project)
		r.Kinds = []string{"observation", "learning"}
		if summaries {
			r.Kinds = append(r.Kinds, "summary")
		}
		r.Policy = true
		return r, err
	}
	if r.Refs, err = namedRecords(given); err != nil {
		return r, err
	}
	if query != "" {
		in, err := a.ProjectOr(project)
		if err != nil {
			return r, err
		}
		search := api.SearchRequest{Query: query, Kinds: []string{"observation"}}
		search.Project, search.Limit = in, limit
		found, err := m.Search(ctx, search)
		if err != nil {
			return r, err
		}
		r.Refs = append(r.Refs, collect.MapPtr(found.Results, func(h *api.Hit) memory.RecordRef { return memory.RecordRef{Kind: h.Kind, ID: int64(h.Observation.ID)} })...)
	}
	if len(r.Refs) == 0 {
		err = memory.Errorf(memory.CodeInvalid, "nothing to share").WithHint("name records (12, L3, S4), --query or --project")
	}
	return r, err
}

func namedRecords(given []string) (refs []memory.RecordRef, err error) {
	for _, name := range given {
		ref, err := api.RecordNamed(name)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// printDrafts prints what leaves.
func (a *Verbs) printDrafts(drafts []care.TeamDraft) {
	p := a.People()
	for i := range drafts {
		d := &drafts[i]
		name := memory.RecordRef{Kind: memory.RecordKind(d.Kind), ID: d.ID}.Name()
		if d.Refused != "" {
			p.Printf("%s %s\n  stays here: %s\n", name, print.Line(d.Title, 80), d.Refused)
			continue
		}
		p.Printf("%s %s%s\n%s\n", name, print.Line(d.Title, 80), print.If(d.Asks != "", "\n  note: "+d.Asks), d.Bytes)
	}
}

// setPolicy sets the policy of a project, or ends it if it is nil.
func setPolicy(ctx context.Context, dataDir, project string, policy *team.Policy) error {
	cfg, err := team.Load(dataDir)
	if err != nil {
		return err
	}
	names, err := daemon.ProjectNames(ctx, dataDir, project)
	if err != nil {
		return err
	}
	for _, name := range names {
		delete(cfg.Policies, name)
	}
	if policy != nil && len(names) == 0 {
		return errUnnamed
	}
	if policy != nil {
		if cfg.Policies == nil {
			cfg.Policies = map[string]team.Policy{}
		}
		cfg.Policies[names[0]] = *policy
	}
	return cfg.Save(dataDir)
}

// UnshareCommand returns the command `claude-mem unshare`.
func (a *Verbs) UnshareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unshare [ID...]",
		Short: "Take back what you share with your team",
		Long: `Take back records that you share (12, L3, S4), or with --project all of a project, and end its policy.
They go from the server and from the memories of the others, and stay in yours. What somebody
has read, or a backup of the server has, stays so.`,
		Example: "  claude-mem unshare 12 L3\n  claude-mem unshare --project .",
	}
	project := a.ProjectFlag(cmd, "", "take back all of this project, by a directory or name")
	cmd.ValidArgsFunction = cli.Completion(a.RecordChoices())
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		refs, err := namedRecords(given)
		r := api.TeamRequest{Action: "unshared", TeamChoice: care.TeamChoice{Refs: refs}}
		if err == nil && *project != "" {
			if r.Project, err = a.ProjectOr(*project); err == nil {
				err = setPolicy(ctx, dataDir, r.Project, nil)
			}
		}
		if err == nil && len(refs) == 0 && r.Project == "" {
			err = memory.Errorf(memory.CodeInvalid, "nothing to take back").WithHint("name records (12, L3, S4), or --project")
		}
		if err != nil {
			return err
		}
		return a.syncTeam(ctx, dataDir, r, "", acted("taken back"))
	})
}
