package adaptor

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// An inside points to private fields of a connection. quic-go's API shows its window only in events, and lets nobody
// choose a controller.
type inside struct{ window, threshold, acked, cutback, inFlight, rtt *int64 }

// look finds the fields of a new connection, and selects its controller. quic-go starts with Reno.
func look(connection any, controller string) (*inside, error) {
	handler, err := private(reflect.ValueOf(connection), "sentPacketHandler")
	if err != nil {
		return nil, err
	}
	sender, err := private(handler, "congestion")
	if err != nil {
		return nil, err
	}
	found := new(inside)
	for _, field := range []struct {
		owner reflect.Value
		name  string
		place **int64
	}{
		{sender, "congestionWindow", &found.window},
		{sender, "slowStartThreshold", &found.threshold},
		{sender, "largestAckedPacketNumber", &found.acked},
		{sender, "largestSentAtLastCutback", &found.cutback},
		{handler, "bytesInFlight", &found.inFlight},
		{handler, "rttStats.latestRTT", &found.rtt},
	} {
		value, err := private(field.owner, field.name)
		if err != nil {
			return nil, err
		}
		*field.place = (*int64)(unsafe.Pointer(value.UnsafeAddr()))
	}
	reno, err := private(sender, "reno")
	if err != nil {
		return nil, err
	}
	switch controller {
	case "reno":
	case "cubic":
		*(*bool)(unsafe.Pointer(reno.UnsafeAddr())) = false
	default:
		return nil, fmt.Errorf("quic-go has no controller %q", controller)
	}
	return found, nil
}

// private returns the field of a struct behind pointers and interfaces.
func private(value reflect.Value, path string) (reflect.Value, error) {
	for _, name := range strings.Split(path, ".") {
		for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
			value = value.Elem()
		}
		if value.Kind() != reflect.Struct || !value.FieldByName(name).IsValid() {
			return value, fmt.Errorf("this version of quic-go has no field %s in %s", name, value.Type())
		}
		value = value.FieldByName(name)
	}
	return value, nil
}

// sample reads the state of the sender.
func (i *inside) sample() sample {
	s := sample{window: *i.window, inFlight: *i.inFlight, rtt: *i.rtt}
	if *i.window < *i.threshold {
		s.flags |= slowStart
	}
	if *i.acked >= 0 && *i.acked <= *i.cutback {
		s.flags |= recovery
	}
	return s
}
