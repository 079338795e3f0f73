package adaptor

import (
	"fmt"
	"math"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/pion/logging"
	"github.com/pion/randutil"
	"github.com/pion/sctp"
)

const (
	smallest = 1228    // bytes of the packets that this stack sends, unless it is told otherwise
	message  = 1136    // bytes of a message, which fills a packet of any version
	ready    = 16      // messages that an application keeps ready beyond the window
	room     = 1 << 26 // bytes that a receiver takes
)

// zeros is what applications send.
var zeros [message]byte

// A flow is a client that sends one stream to a server of its own. The loop of the run reads and writes its fields
// only while all goroutines of the stack are blocked.
type flow struct {
	pair
	association    *sctp.Association // nil until the handshake ends
	stream         *sctp.Stream
	written, want  int64 // bytes of the application: taken by the stack, and offered so far
	endless, begun int64 // bytes taken in phases with an endless offer; bytes taken when this phase began
}

// numbers is pion's source of first sequence numbers, on which runs depend.
//
//go:linkname numbers github.com/pion/sctp.globalMathRandomGenerator
var numbers randutil.MathRandomGenerator

// begin prepares a run: a new source takes its seed from crypto/rand, which the seed of the run determines.
func begin(time.Time) { numbers = randutil.NewMathRandomGenerator() }

// start opens the endpoints of a flow.
func start(controller string, size int, written chan struct{}) (*flow, error) {
	if controller != "sctp" {
		return nil, fmt.Errorf("pion has no controller %q", controller)
	}
	f := &flow{pair: newPair(written)}
	go func() {
		association, err := sctp.Server(configured(f.server))
		if err != nil {
			return
		}
		stream, err := association.AcceptStream()
		for taken := make([]byte, message); err == nil; {
			_, _, err = stream.ReadSCTP(taken)
		}
	}()
	go func() {
		association, err := sctp.Client(configured(f.client))
		if err == nil {
			f.stream, err = association.OpenStream(1, sctp.PayloadTypeWebRTCBinary)
			f.association = association
		}
		if err != nil {
			f.failure = "closed: " + err.Error()
		}
	}()
	return f, nil
}

func configured(side *endpoint) sctp.Config {
	return sctp.Config{NetConn: side, MaxReceiveBufferSize: room, LoggerFactory: logging.NewDefaultLoggerFactory()}
}

func (f *flow) close() { f.client.close(); f.server.close() }

// feed writes what the application offers, and keeps a few messages ready beyond the window. It returns whether it has
// written any.
func (f *flow) feed() bool {
	if f.stream == nil || f.failure != "" {
		return false
	}
	before, most := f.written, uint64(f.association.CWND())+ready*message
	for f.written < f.want && f.stream.BufferedAmount() < most {
		n, err := f.stream.WriteSCTP(zeros[:min(f.want-f.written, message)], sctp.PayloadTypeWebRTCBinary)
		f.written += int64(n)
		if err != nil {
			f.failure = "closed: " + err.Error()
			break
		}
	}
	return f.written > before
}

// interrupt does nothing: no write of the application is waiting.
func (f *flow) interrupt() {}

// offer sets what the application offers: so many bytes in all limited phases together.
func (f *flow) offer(bytes int64) {
	if f.want == math.MaxInt64 {
		f.endless += f.written - f.begun
	}
	f.want, f.begun = math.MaxInt64, f.written
	if bytes != math.MaxInt64 {
		f.want = f.endless + bytes
	}
}

// sample reads the state of the sender, if it is known.
func (f *flow) sample() (sample, bool) {
	if f.stream == nil {
		return sample{}, false
	}
	s := sample{window: int64(f.association.CWND()), inFlight: -1, rtt: int64(f.association.SRTT() * 1e6)}
	if f.written >= f.want {
		s.flags |= limited
	}
	return s, true
}
