//go:build !linux

package httpapi

import "net/netip"

// CheckPeer returns PeerUnknown: this system does not say whose process a client is, so it
// must send the token.
func CheckPeer(server, client netip.AddrPort) Peer { return PeerUnknown }
