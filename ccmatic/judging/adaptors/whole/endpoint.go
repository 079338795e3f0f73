package adaptor

import (
	"net"
	"os"
	"sync"
	"time"
)

// headers is the size of an IPv4 header and a UDP header. The path counts whole IP packets.
const headers = 28

// An endpoint is the net.PacketConn, and the net.Conn, of a client or a server. The loop of the run carries its packets.
type endpoint struct {
	address net.Addr
	peer    net.Addr
	inbox   chan []byte   // packets that reach this endpoint
	outbox  [][]byte      // packets that the stack wrote since the last collection
	written chan struct{} // tells the loop that the outbox has a packet
	closed  chan struct{}
	close   func()
}

// opened counts the endpoints of all runs: versions before v0.50 refuse to open an address twice.
var opened int

func newEndpoint(written chan struct{}) *endpoint {
	opened++
	closed := make(chan struct{})
	return &endpoint{
		address: &net.UDPAddr{IP: net.IPv4(10, byte(opened>>16), byte(opened>>8), byte(opened)), Port: 443},
		inbox:   make(chan []byte),
		written: written,
		closed:  closed,
		close:   sync.OnceFunc(func() { close(closed) }),
	}
}

func (e *endpoint) ReadFrom(packet []byte) (int, net.Addr, error) {
	select {
	case data := <-e.inbox:
		return copy(packet, data), e.peer, nil
	case <-e.closed:
		return 0, nil, os.ErrDeadlineExceeded
	}
}

func (e *endpoint) WriteTo(packet []byte, _ net.Addr) (int, error) {
	e.outbox = append(e.outbox, append([]byte(nil), packet...))
	select {
	case e.written <- struct{}{}:
	default:
	}
	return len(packet), nil
}

func (e *endpoint) Read(packet []byte) (int, error) {
	size, _, err := e.ReadFrom(packet)
	return size, err
}

func (e *endpoint) Write(packet []byte) (int, error) { return e.WriteTo(packet, e.peer) }
func (e *endpoint) RemoteAddr() net.Addr             { return e.peer }

// newPair opens both endpoints of a flow.
func newPair(written chan struct{}) pair {
	p := pair{client: newEndpoint(written), server: newEndpoint(written)}
	p.client.peer, p.server.peer = p.server.address, p.client.address
	return p
}

// deliver hands a packet to the stack.
func (e *endpoint) deliver(packet []byte) {
	select {
	case e.inbox <- packet:
	case <-e.closed:
	}
}

// SetReadDeadline ends all reads: stacks call it only to close.
func (e *endpoint) SetReadDeadline(time.Time) error { e.close(); return nil }

func (e *endpoint) Close() error                     { e.close(); return nil }
func (e *endpoint) LocalAddr() net.Addr              { return e.address }
func (e *endpoint) SetDeadline(time.Time) error      { return nil }
func (e *endpoint) SetWriteDeadline(time.Time) error { return nil }
