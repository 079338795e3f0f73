// Package adaptor runs a stack, client and server, over ccmatic's path in virtual time.
package adaptor

// #cgo LDFLAGS: -lccmatic_path -ldl
// #include <path.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"time"
	"unsafe"
)

// Kinds of events.
const (
	data        = C.PATH_DATA
	reply       = C.PATH_REPLY
	started     = C.PATH_START
	stopped     = C.PATH_STOP
	application = C.PATH_APPLICATION
)

// An event of the path, for one flow.
type event struct {
	kind   C.int32_t
	flow   int
	packet int64
}

// Flags of samples, as path.h defines them.
const (
	limited   = 1
	slowStart = 2
	recovery  = 4
)

// A sample is the state of a sender at one instant, in bytes and ns.
type sample struct{ window, inFlight, rtt, flags int64 }

// A packet is the payload of a packet on the path, with its number there.
type packet struct {
	number int64
	data   []byte
}

// A pair is what the loop of the run needs of a flow: two endpoints, and their packets on the way, in order.
type pair struct {
	client, server *endpoint
	data, replies  []packet
	last           sample
	failure        string
}

// A path is the emulated network of one scenario. Instants count from the start of the run.
type path struct{ core *C.struct_path }

func open(folder string) (path, error) {
	name := C.CString(folder)
	defer C.free(unsafe.Pointer(name))
	core := C.path_open(name)
	if core == nil {
		return path{}, errors.New(C.GoString(C.path_error()))
	}
	return path{core}, nil
}

func (p path) end() time.Duration  { return time.Duration(C.path_end(p.core)) }
func (p path) next() time.Duration { return time.Duration(C.path_next(p.core)) }
func (p path) flows() int          { return int(C.path_flows(p.core)) }
func (p path) seed() uint64        { return uint64(C.path_seed(p.core)) }
func (p path) packet() int         { return int(C.path_packet(p.core)) }
func (p path) controller() string  { return C.GoString(C.path_controller(p.core)) }

// receive returns the next event that is due, and false if there is none.
func (p path) receive(now time.Duration) (event, bool) {
	var due C.struct_path_event
	found := C.path_receive(p.core, C.int64_t(now), &due) != 0
	return event{kind: due.kind, flow: int(due.flow), packet: int64(due.packet)}, found
}

// send puts a data packet of the flow on the link, and returns its number.
func (p path) send(now time.Duration, flow, size int) int64 {
	return int64(C.path_send(p.core, C.int64_t(now), C.int(flow), C.int64_t(size), 0))
}

// reply sends a packet of the receiver back, and returns its number.
func (p path) reply(now time.Duration, flow, size int) int64 {
	return int64(C.path_reply(p.core, C.int64_t(now), C.int(flow), C.int64_t(size)))
}

// offered returns the bytes that the application of the flow has offered by now.
func (p path) offered(now time.Duration, flow int) int64 {
	return int64(C.path_offered(p.core, C.int64_t(now), C.int(flow)))
}

func (p path) sample(now time.Duration, flow int, s sample) {
	C.path_sample(p.core, C.int64_t(now), C.int(flow), C.int64_t(s.window), C.int64_t(s.inFlight), C.int64_t(s.rtt),
		-1, C.int(s.flags))
}

// close writes the records of the run; an empty failure means that the run went well.
func (p path) close(failure string) error {
	var text *C.char
	if failure != "" {
		text = C.CString(failure)
		defer C.free(unsafe.Pointer(text))
	}
	if C.path_close(p.core, text) != 0 {
		return errors.New(C.GoString(C.path_error()))
	}
	return nil
}
