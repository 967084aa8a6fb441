package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Peer tells whose process is at the other end of a TCP connection.
type Peer int

// What can be told of a peer.
const (
	PeerUnknown Peer = iota // this system does not tell, or the connection is already gone
	PeerSame                // a process of our own user
	PeerOther               // a process of another user
)

type addrPort = netip.AddrPort

// link is a connection as the guard sees it.
type link struct {
	unix           bool
	server, client addrPort

	// The answer stands for the whole connection: a socket keeps its owner.
	once  sync.Once
	known Peer
}

// peer looks the peer's user up at the first call. It is not done when the
// connection is accepted, because that would hold up the next one.
func (l *link) peer(check func(server, client addrPort) Peer) Peer {
	l.once.Do(func() {
		if l.server.IsValid() && l.client.IsValid() {
			l.known = check(l.server, l.client)
		}
	})
	return l.known
}

type linkKey struct{}

// connContext is the server's ConnContext: it notes what kind of connection its requests come on.
func connContext(ctx context.Context, c net.Conn) context.Context {
	l := &link{}
	switch local := c.LocalAddr().(type) {
	case *net.UnixAddr:
		l.unix = true
	case *net.TCPAddr:
		l.server = local.AddrPort()
		if remote, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			l.client = remote.AddrPort()
		}
	}
	return context.WithValue(ctx, linkKey{}, l)
}

// linkOf never returns nil: what did not come through NewServer's server is a
// TCP connection of somebody unknown.
func linkOf(r *http.Request) *link {
	if l, ok := r.Context().Value(linkKey{}).(*link); ok {
		return l
	}
	l := &link{}
	l.client, _ = netip.ParseAddrPort(r.RemoteAddr) // Invalid is not loopback: refused.
	return l
}
