package team

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"

	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
)

// File is the file in the data directory that says which team the memory is in. It has no password.
var File = &joined.File{Name: "team.json", Mend: "`claude-mem team join ADDRESS` writes it anew",
	Absent: memory.Errorf(memory.CodeNotFound, "this memory is in no team").WithHint("`claude-mem team join ADDRESS` joins one: docs/teams.md")}

// Config says which team a memory is in, and what it shares and takes.
type Config struct {
	// Team is the identity of the server's schema, Address where it is.
	Team    string `json:"team"`
	Address string `json:"address"`
	// Member is the person's role, Device tells the person's machines apart. A reader pushes nothing.
	Member string `json:"member"`
	Device string `json:"device"`
	Reader bool   `json:"reader,omitempty"`
	// Policies are the projects, by their identities, of which everything is shared that may be by a policy.
	Policies map[string]Policy `json:"policies,omitempty"`
	// Muted are members and identities of projects of which nothing is kept here.
	Muted []string `json:"muted,omitempty"`
	// Since and Projects bound what is pulled; the zero values do not.
	Since    memory.Millis `json:"since,omitempty"`
	Projects []string      `json:"projects,omitempty"`
}

// Policy is what is shared of a project.
type Policy struct {
	Summaries bool `json:"summaries,omitempty"`
}

// Load returns the configuration of a data directory, CodeNotFound if it has none.
func Load(dataDir string) (*Config, error) {
	var c Config
	err := File.Load(dataDir, &c)
	if err == nil && (c.Address == "" || !memberName.MatchString(c.Member)) {
		err = File.Unfit("names no server, or no member")
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Save keeps a configuration.
func (c *Config) Save(dataDir string) error { return File.Save(dataDir, c) }

// mutes reports whether nothing that a member shares of a project is kept.
func (c *Config) mutes(member, project string) bool {
	return slices.Contains(c.Muted, member) || slices.Contains(c.Muted, project)
}

// Join has a data directory be in the team of a server, as the role that the address logs in as. One that is in it already keeps what it
// shares. CodeConflict if it is in another team.
func Join(ctx context.Context, dataDir, address string) (*Config, error) {
	conn, err := connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer disconnect(conn)
	who, err := member(ctx, conn)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	if File.In(dataDir) {
		if c, err = Load(dataDir); err != nil {
			return nil, err
		}
	}
	team, err := row(ctx, conn, 1, "SELECT team FROM claude_mem.feed")
	if err != nil {
		return nil, fault("ask the team's server for its name", err)
	}
	if c.Team != "" && (c.Team != team[0] || c.Member != who.name) {
		return nil, memory.Errorf(memory.CodeConflict, "this memory is in a team already, as %s", c.Member).WithHint("`claude-mem team leave` first")
	}
	if c.Device == "" {
		id := make([]byte, 2)
		_, _ = rand.Read(id) // never fails
		c.Device = hex.EncodeToString(id)
	}
	c.Team, c.Address, c.Member, c.Reader = team[0], address, who.name, !who.writes
	return c, c.Save(dataDir)
}
