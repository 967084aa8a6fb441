package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Peer is which user the client of a TCP connection belongs to.
type Peer int

// The values of a Peer.
const (
	PeerUnknown Peer = iota // not found: the client has closed its socket
	PeerUnsaid              // this system does not say
	PeerSame                // the worker's user
	PeerOther               // another user
)

type addrPort = netip.AddrPort

// link is what the guard knows of a connection.
type link struct {
	unix           bool
	server, client addrPort

	// The peer is looked up once: a socket keeps its owner.
	once  sync.Once
	known Peer
}

// peer returns the peer, which the first call looks up. Looking it up when the connection
// is accepted would delay the next connection.
func (l *link) peer(check func(server, client addrPort) Peer) Peer {
	l.once.Do(func() {
		if l.server.IsValid() && l.client.IsValid() {
			l.known = check(l.server, l.client)
		}
	})
	return l.known
}

type linkKey struct{}

// connContext is the server's ConnContext: it adds the link of the connection.
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

// linkOf returns the link of a request. A request that did not come through a server of
// NewServer has the link of a TCP client of an unknown user.
func linkOf(r *http.Request) *link {
	if l, ok := r.Context().Value(linkKey{}).(*link); ok {
		return l
	}
	l := &link{}
	l.client, _ = netip.ParseAddrPort(r.RemoteAddr) // an invalid address is not loopback: refused
	return l
}
