package httpapi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
)

// CheckPeer returns which user the client of a loopback connection belongs to, from the
// kernel's table of TCP sockets (proc(5), /proc/net/tcp). PeerUnknown if no process has
// the client's socket any more, or the table cannot be read: a client could see to both.
func CheckPeer(server, client netip.AddrPort) Peer {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// A client on a dual-stack socket has its IPv4 address in the second table.
		if uid, ok := ownerOf(table, client, server); ok {
			if uid == os.Geteuid() {
				return PeerSame
			}
			return PeerOther
		}
	}
	return PeerUnknown
}

// ownerOf returns the user of the socket with the given ends; false if the table has none.
// The state of the socket does not matter: a client that has sent all it has may have shut
// its direction down. A socket without an inode has lost its process, and then its user is
// told as 0.
func ownerOf(table []byte, local, remote netip.AddrPort) (uid int, ok bool) {
	for _, form := range [][2]string{
		{procAddr(local, false), procAddr(remote, false)},
		{procAddr(local, true), procAddr(remote, true)},
	} {
		if form[0] == "" || form[1] == "" {
			continue
		}
		ends := []byte(" " + form[0] + " " + form[1] + " ")
		for rest := table; ; {
			i := bytes.Index(rest, ends)
			if i < 0 {
				break
			}
			var line []byte
			line, rest, _ = bytes.Cut(rest[i+len(ends):], []byte{'\n'})
			// st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …
			fields := bytes.Fields(line)
			if len(fields) < 7 || string(fields[6]) == "0" {
				continue
			}
			if uid, err := strconv.Atoi(string(fields[4])); err == nil {
				return uid, true
			}
		}
	}
	return 0, false
}

// procAddr returns an address in the form of the tables: 32-bit words in the machine's
// byte order, then the port; "" for an IPv6 address in the IPv4 table.
func procAddr(a netip.AddrPort, six bool) string {
	addr := a.Addr().Unmap()
	raw := addr.AsSlice()
	if six {
		b := addr.As16()
		raw = b[:]
	} else if !addr.Is4() {
		return ""
	}
	var s string
	for i := 0; i < len(raw); i += 4 {
		s += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(raw[i:]))
	}
	return s + fmt.Sprintf(":%04X", a.Port())
}
