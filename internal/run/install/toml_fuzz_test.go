package install

import (
	"bytes"
	"testing"

	"claudemem/internal/memory"
)

// FuzzTOML adds our server to a file and removes it: no other value changes, and the file is
// as before but for white space at its end.
func FuzzTOML(f *testing.F) {
	for _, text := range []string{
		"", "a = 1", "# only a comment\n", "[mcp_servers.docs]\ncommand = \"x\"\r\n", "a = \"\"\"\n[mcp_servers.claude-mem]\n\"\"\"\n",
		"mcp_servers = {}\n", "[mcp_servers]\n", "[[mcp_servers]]\n", "[mcp_servers.claude-mem]\ncommand = \"/data/bin/claude-mem\"\n[mcp_servers.claude-mem.env]\nA = \"1\"\n\n# mine\n[x]\n",
		"a = '''\n[x] \"\"\"\n'''\n", "[ mcp_servers . \"claude-mem\" ] # ours\ncommand = \"/data/bin/claude-mem\"\n", "mcp_servers.claude-mem.command = \"/data/bin/claude-mem\"\n",
		"0=''#000'''", "\n[mcp_servers.claude-mem]\ncommand = \"/data/bin/claude-mem\"\nx = \"\"\"\n#\"\"\"\n# mine\n",
	} {
		f.Add([]byte(text))
	}
	in, file := New(Options{DataDir: "/data", GOOS: "linux"}), tomlServers{}
	f.Fuzz(func(t *testing.T, data []byte) {
		bare, err := file.strip(in, data, nil)
		if err != nil {
			return
		}
		if err := onlyServerChanged(data, bare); err != nil {
			t.Fatalf("strip of %q gave %q: %v", data, bare, err)
		}
		edited, err := file.add(in, memory.HostCodex, bare)
		if err != nil {
			return
		}
		o, err := file.read(edited)
		if err != nil || o.Server != "/data/bin/claude-mem" {
			t.Fatalf("%q has %+v, %v", edited, o, err)
		}
		again, err := file.strip(in, edited, nil)
		if err != nil || !bytes.Equal(bytes.TrimSpace(again), bytes.TrimSpace(bare)) {
			t.Fatalf("from %q\nto   %q\nback %q, %v", bare, edited, again, err)
		}
	})
}
