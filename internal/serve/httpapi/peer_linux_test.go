package httpapi

import (
	"net"
	"net/netip"
	"testing"
)

func TestCheckPeerFindsThisProcess(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // A machine without IPv6.
			continue
		}
		defer func() { _ = l.Close() }()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		server, client := c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort()
		if got := CheckPeer(server, client); got != PeerSame {
			t.Errorf("%s: got %v, want %v", address, got, PeerSame)
		}
		if got := CheckPeer(server, netip.AddrPortFrom(client.Addr(), 1)); got != PeerUnknown {
			t.Errorf("%s: a connection that is not there: got %v, want %v", address, got, PeerUnknown)
		}
	}
}

func TestOwnerOf(t *testing.T) {
	if procAddr(netip.MustParseAddrPort("127.0.0.1:80"), false) != "0100007F:0050" {
		t.Skip("the tables below are of a little-endian machine")
	}
	const tcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9391 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1111 1 0000000000000000 100 0 0 10 0
   1: 0100007F:9391 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2222 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:C350 0100007F:9391 01 00000000:00000000 02:000009F2 00000000  1001        0 3333 2 0000000000000000 20 4 24 10 -1
   3: 0100007F:C351 0100007F:9391 06 00000000:00000000 03:000013D4 00000000     0        0 0 3 0000000000000000
   4: 0100007F:C354 0100007F:9391 05 00000000:00000000 00:00000000 00000000  1004        0 6666 1 0000000000000000 20 4 30 10 -1
   5: 0100007F:C355 0100007F:9391 06 00000000:00000000 03:000013D4 00000000     0        0 0 3 0000000000000000
   6: 0100007F:C355 0100007F:9391 01 00000000:00000000 00:00000000 00000000  1005        0 7777 1 0000000000000000 20 4 30 10 -1
`
	const tcp6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:9391 01 00000000:00000000 00:00000000 00000000  1002        0 4444 1 0000000000000000 20 4 30 10 -1
   1: 00000000000000000000000001000000:C353 00000000000000000000000001000000:9391 01 00000000:00000000 00:00000000 00000000  1003        0 5555 1 0000000000000000 20 4 30 10 -1
`
	tests := []struct {
		name, table, client, server string
		uid                         int
		ok                          bool
	}{
		{"client's end, not the server's", tcp, "127.0.0.1:50000", "127.0.0.1:37777", 1001, true},
		{"shut down by the client", tcp, "127.0.0.1:50004", "127.0.0.1:37777", 1004, true},
		{"closed: its owner is not told", tcp, "127.0.0.1:50001", "127.0.0.1:37777", 0, false},
		{"closed, and the port is in use again", tcp, "127.0.0.1:50005", "127.0.0.1:37777", 1005, true},
		{"not there", tcp, "127.0.0.1:50009", "127.0.0.1:37777", 0, false},
		{"IPv4 on a dual-stack socket", tcp6, "127.0.0.1:50002", "127.0.0.1:37777", 1002, true},
		{"mapped address", tcp6, "[::ffff:127.0.0.1]:50002", "127.0.0.1:37777", 1002, true},
		{"IPv6", tcp6, "[::1]:50003", "[::1]:37777", 1003, true},
		{"cut off", tcp6[:len(tcp6)-90], "[::1]:50003", "[::1]:37777", 0, false},
		{"empty", "", "[::1]:50003", "[::1]:37777", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			uid, ok := ownerOf([]byte(tt.table), netip.MustParseAddrPort(tt.client), netip.MustParseAddrPort(tt.server))
			if uid != tt.uid || ok != tt.ok {
				t.Errorf("got %d %v, want %d %v", uid, ok, tt.uid, tt.ok)
			}
		})
	}
}

func FuzzOwnerOf(f *testing.F) {
	f.Add([]byte("0100007F:C350 0100007F:9391 01 x"))
	f.Add([]byte(" 0100007F:C350 0100007F:9391 01 00000000:00000000 02:000009F2 00000000  1001 "))
	f.Fuzz(func(t *testing.T, table []byte) {
		ownerOf(table, netip.MustParseAddrPort("127.0.0.1:50000"), netip.MustParseAddrPort("127.0.0.1:37777"))
	})
}
