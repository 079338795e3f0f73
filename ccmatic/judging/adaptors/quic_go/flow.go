package adaptor

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/quic-go/quic-go"
)

const (
	forever  = 24 * time.Hour
	smallest = 1200 // bytes of the smallest packet that QUIC allows for a path
	usual    = 1280 // bytes of quic-go's packets, unless it discovers that the path carries more
)

// zeros is what applications send. No page of it is ever written, so it needs no memory.
var zeros [1 << 26]byte

// A flow is a client that sends one stream to a server of its own. The loop of the run reads and writes its fields
// only while all goroutines of the stack are blocked.
type flow struct {
	pair
	inside         *inside // nil until the handshake ends
	stream         stream
	written, want  int64         // bytes of the application: taken by the stack, and offered so far
	endless, begun int64         // bytes taken in phases with an endless offer; bytes taken when this phase began
	paused         bool          // while the offer changes
	changed        chan struct{} // tells the application that the offer changed
	close          context.CancelFunc
}

type stream interface{ SetWriteDeadline(time.Time) error }

// origin is the instant from which quic-go counts time. It means "never" by 0, and a bubble begins long before the
// process, in 2000.
//
//go:linkname origin github.com/quic-go/quic-go/internal/monotime.start
var origin time.Time

// begin prepares a run that starts at an instant.
func begin(started time.Time) {
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	origin = started.Add(-time.Hour)
}

// start opens the endpoints of a flow. Packets are at most size bytes, headers included.
func start(controller string, size int, written chan struct{}) (*flow, error) {
	f := &flow{pair: newPair(written), changed: make(chan struct{}, 1)}
	running, stop := context.WithCancel(context.Background())
	config := &quic.Config{
		InitialPacketSize:              uint16(min(size-headers, usual)),
		DisablePathMTUDiscovery:        true,
		MaxIdleTimeout:                 forever,
		HandshakeIdleTimeout:           forever,
		InitialStreamReceiveWindow:     1 << 40,
		MaxStreamReceiveWindow:         1 << 40,
		InitialConnectionReceiveWindow: 1 << 40,
		MaxConnectionReceiveWindow:     1 << 40,
	}
	security, err := secure()
	if err != nil {
		return nil, err
	}
	client, server := &quic.Transport{Conn: f.client}, &quic.Transport{Conn: f.server}
	f.close = func() { stop(); client.Close(); server.Close() }
	listener, err := server.Listen(security, config)
	if err != nil {
		return nil, err
	}
	go func() {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return
		}
		if stream, err := connection.AcceptUniStream(context.Background()); err == nil {
			io.Copy(io.Discard, stream)
		}
	}()
	go func() {
		if err := f.send(running, client, controller, config); err != nil && running.Err() == nil {
			f.failure = "closed: " + err.Error()
		}
	}()
	return f, nil
}

// send connects, and sends what the application offers until the run ends.
func (f *flow) send(running context.Context, client *quic.Transport, controller string, config *quic.Config) error {
	security := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"ccmatic"}, ServerName: "ccmatic"}
	connection, err := client.Dial(running, f.server.address, security, config)
	if err != nil {
		return err
	}
	defer connection.CloseWithError(0, "")
	if f.inside, err = look(connection, controller); err != nil {
		return err
	}
	stream, err := connection.OpenUniStream()
	if err != nil {
		return err
	}
	f.stream = stream
	for {
		for !f.paused && f.written < f.want {
			stream.SetWriteDeadline(time.Time{})
			n, err := stream.Write(zeros[:min(f.want-f.written, int64(len(zeros)))])
			f.written += int64(n)
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
		}
		select {
		case <-f.changed:
		case <-connection.Context().Done():
			return context.Cause(connection.Context())
		}
	}
}

// interrupt ends a write of the application, so that f.written is exact once the stack is blocked.
func (f *flow) interrupt() {
	f.paused = true
	if f.stream != nil {
		f.stream.SetWriteDeadline(time.Now())
	}
}

// offer sets what the application offers after an interruption: so many bytes in all limited phases together.
func (f *flow) offer(bytes int64) {
	if f.want == math.MaxInt64 {
		f.endless += f.written - f.begun
	}
	f.paused, f.want, f.begun = false, math.MaxInt64, f.written
	if bytes != math.MaxInt64 {
		f.want = f.endless + bytes
	}
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// feed does nothing: the application has a goroutine of its own.
func (f *flow) feed() bool { return false }

// sample reads the state of the sender, if it is known.
func (f *flow) sample() (sample, bool) {
	if f.inside == nil {
		return sample{}, false
	}
	s := f.inside.sample()
	if f.written >= f.want {
		s.flags |= limited
	}
	return s, true
}

// secure makes the certificate of a server.
func secure() (*tls.Config, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"ccmatic"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, err
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"ccmatic"}}, nil
}
