package adaptor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"
)

// TestAdaptor is the program: it reads the names of folders from its input, runs their scenarios, and prints a line of
// JSON for each. It is a test because a bubble of virtual time needs one.
func TestAdaptor(t *testing.T) {
	answers := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // what Go's tests print is no answer
	runtime.GOMAXPROCS(1)
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		path, err := open(input.Text())
		if err != nil {
			answers.Encode(map[string]any{"failure": "unread: " + err.Error(), "packets": 0})
			continue
		}
		run := &run{path: path, flows: make([]*flow, path.flows())}
		if path.packet() < smallest+headers {
			run.refusal = fmt.Sprintf("refused: this stack needs packets of at least %d bytes", smallest+headers)
		} else {
			cryptotest.SetGlobalRandom(t, path.seed())
			synctest.Test(t, func(*testing.T) { run.play() })
		}
		if err := path.close(run.failure()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer := map[string]any{"failure": nil, "packets": run.packets}
		if failure := run.failure(); failure != "" {
			answer["failure"] = failure
		}
		answers.Encode(answer)
	}
	os.Exit(0)
}

// A run plays one scenario.
type run struct {
	path    path
	flows   []*flow // nil before they start
	started time.Time
	now     time.Duration
	written chan struct{}
	packets int
	refusal string
}

// play carries packets between path and stack until the scenario ends.
func (r *run) play() {
	r.written, r.started = make(chan struct{}, 1), time.Now()
	begin(r.started)
	alarm := time.NewTimer(0)
	for end := r.path.end(); r.now < end; {
		for {
			r.settle()
			event, due := r.path.receive(r.now)
			if !due {
				break
			}
			r.handle(event)
		}
		alarm.Reset(min(r.path.next(), end) - r.now)
		select {
		case <-alarm.C:
		case <-r.written:
		}
		r.now = time.Since(r.started)
	}
	for _, f := range r.flows {
		if f != nil {
			f.close()
		}
	}
}

// settle lets the stack do all that it does at this instant, and collects its packets in an order that does not depend
// on the scheduler.
func (r *run) settle() {
	synctest.Wait()
	for _, f := range r.flows {
		if f != nil && f.feed() {
			synctest.Wait()
		}
	}
	select {
	case <-r.written:
	default:
	}
	for i, f := range r.flows {
		if f == nil {
			continue
		}
		r.packets += len(f.client.outbox) + len(f.server.outbox)
		for _, data := range f.client.outbox {
			f.data = append(f.data, packet{r.path.send(r.now, i, len(data)+headers), data})
		}
		for _, data := range f.server.outbox {
			f.replies = append(f.replies, packet{r.path.reply(r.now, i, len(data)+headers), data})
		}
		f.client.outbox, f.server.outbox = f.client.outbox[:0], f.server.outbox[:0]
		if state, known := f.sample(); known && state != f.last {
			r.path.sample(r.now, i, state)
			f.last = state
		}
	}
}

// handle does what an event of the path says.
func (r *run) handle(event event) {
	f := r.flows[event.flow]
	switch event.kind {
	case started:
		f, err := start(r.path.controller(), r.path.packet(), r.written)
		if err != nil {
			panic(err)
		}
		f.offer(r.path.offered(r.now, event.flow))
		r.flows[event.flow] = f
	case stopped:
		r.offer(f, 0)
	case application: // also before a flow starts
		if f != nil {
			r.offer(f, r.path.offered(r.now, event.flow))
		}
	case data:
		f.server.deliver(take(&f.data, event.packet))
	case reply:
		f.client.deliver(take(&f.replies, event.packet))
	}
}

// offer changes what the application of a flow offers.
func (r *run) offer(f *flow, bytes int64) {
	f.interrupt()
	synctest.Wait()
	f.offer(bytes)
}

// take removes a packet and the lost packets before it.
func take(queue *[]packet, number int64) []byte {
	for (*queue)[0].number != number {
		*queue = (*queue)[1:]
	}
	found := (*queue)[0].data
	*queue = (*queue)[1:]
	return found
}

// failure returns the first failure, or nothing.
func (r *run) failure() string {
	if r.refusal != "" {
		return r.refusal
	}
	for _, f := range r.flows {
		if f != nil && f.failure != "" {
			return f.failure
		}
	}
	return ""
}
