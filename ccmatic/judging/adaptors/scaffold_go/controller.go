// The controller "toy", for `ccmatic judge`. Times are in ns, sizes in bytes; fill in Toy.
package main

// #include <stdint.h>
// struct controller_event { // sent: when the newest of the packets left; persistent: RFC 9002, section 7.6
//     int64_t now, sent, bytes, rtt, least_rtt, smooth_rtt, in_flight; int32_t app_limited, persistent; };
import "C"
import (
	"math"
	"runtime/cgo"
)

type Toy struct {
	packet, window C.int64_t
	threshold      C.int64_t // slow start ends here
	recovery       C.int64_t // losses of packets that left before this instant belong to the same event
}

func (t *Toy) acked(e *C.struct_controller_event) {
	if e.sent <= t.recovery || e.app_limited != 0 {
		return
	}
	if t.window < t.threshold {
		t.window += e.bytes
	} else {
		t.window += t.packet * e.bytes / t.window
	}
}

func (t *Toy) lost(e *C.struct_controller_event) {
	if e.sent > t.recovery {
		t.recovery, t.threshold = e.now, max(t.window/2, 2*t.packet)
		t.window = t.threshold
	}
	if e.persistent != 0 {
		t.window = 2 * t.packet
	}
}

//export controller_new
func controller_new(name *C.char, seed C.uint64_t, packet C.int64_t) C.uintptr_t {
	if C.GoString(name) != "toy" {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(&Toy{packet, 10 * packet, math.MaxInt64, -1}))
}
func toy(controller C.uintptr_t) *Toy { return cgo.Handle(controller).Value().(*Toy) }

//export controller_acked
func controller_acked(controller C.uintptr_t, e *C.struct_controller_event) { toy(controller).acked(e) }

//export controller_lost
func controller_lost(controller C.uintptr_t, e *C.struct_controller_event) { toy(controller).lost(e) }

//export controller_window
func controller_window(controller C.uintptr_t) C.int64_t { return toy(controller).window }

//export controller_free
func controller_free(controller C.uintptr_t) { cgo.Handle(controller).Delete() }
func main()                                  {}
