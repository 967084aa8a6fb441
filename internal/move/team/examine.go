package team

import (
	"context"
	"crypto/tls"

	"claudemem/internal/leaf/collect"
)

// Examination is what the server is like.
type Examination struct {
	Server  int      `json:"server"`
	TLS     bool     `json:"tls"`
	Schema  int      `json:"schema"`
	Member  string   `json:"member"`
	Writes  bool     `json:"writes"`
	Members []string `json:"members"`
}

// Examine connects to the server of a data directory's team, and returns what it is like. Its error says what is not as it should be.
func Examine(ctx context.Context, dataDir string) (e Examination, err error) {
	cfg, err := Load(dataDir)
	if err != nil {
		return e, err
	}
	conn, err := connect(ctx, cfg.Address)
	if err != nil {
		return e, err
	}
	defer disconnect(conn)
	_, encrypted := conn.Conn().(*tls.Conn)
	who, err := member(ctx, conn)
	if err != nil {
		return e, err
	}
	e.Server, e.Member, e.Writes, e.TLS = who.version/10000, who.name, who.writes, encrypted
	if e.Schema, _, err = versionOf(ctx, conn); err != nil {
		return e, err
	}
	rows, err := ask(ctx, conn, "SELECT name FROM claude_mem.member ORDER BY name")
	e.Members = collect.Map(rows, func(row []string) string { return row[0] })
	return e, fault("list the team's members", err)
}
