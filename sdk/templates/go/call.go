package main

// A call of the host, seen from Go: its end, its deadline, its errors, its texts.

// #include "bridge.h"
// #include <stdlib.h>
// #include <time.h>
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

type status = C.hostler_status

const (
	internal    status = C.HOSTLER_E_INTERNAL
	invalid     status = C.HOSTLER_E_INVALID
	unsupported status = C.HOSTLER_E_UNSUPPORTED
	notFound    status = C.HOSTLER_E_NOT_FOUND
	conflict    status = C.HOSTLER_E_CONFLICT
	auth        status = C.HOSTLER_E_AUTH
	rateLimit   status = C.HOSTLER_E_RATE_LIMIT
	quota       status = C.HOSTLER_E_QUOTA
	capacity    status = C.HOSTLER_E_CAPACITY
	transient   status = C.HOSTLER_E_TRANSIENT
	timeout     status = C.HOSTLER_E_TIMEOUT
	cancelled   status = C.HOSTLER_E_CANCELLED
)

// Failure says why a call failed.
type Failure struct {
	status         status
	message, code  string
	outcomeUnknown bool
	scope          C.uint32_t // C.HOSTLER_SCOPE_*
	retryAfter     time.Duration
}

func (f *Failure) Error() string { return f.message }

func failure(s status, format string, values ...any) error {
	return &Failure{status: s, message: fmt.Sprintf(format, values...)}
}

func unknownOutcome(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		f.outcomeUnknown = true
	}
	return err
}

// Call is one operation of the host.
type Call struct{ op *C.hostler_op }

// run is the barrier: no panic leaves a function. It fills in the error of the call.
func (c Call) run(body func() error) (s status) {
	defer func() {
		if r := recover(); r != nil {
			s = c.report(&Failure{status: internal, message: fmt.Sprintf("the driver panicked: %T", r), outcomeUnknown: true})
		}
	}()
	if err := body(); err != nil {
		f := &Failure{status: internal, message: err.Error()}
		errors.As(err, &f)
		return c.report(f)
	}
	return C.HOSTLER_OK
}

func (c Call) report(f *Failure) status {
	if f.outcomeUnknown {
		c.op.error.flags |= C.HOSTLER_EF_OUTCOME_UNKNOWN
	}
	c.op.error.scope = f.scope
	if f.retryAfter > 0 {
		c.op.error.retry_after_ms = C.int64_t(f.retryAfter.Milliseconds())
	}
	c.setText(C.HOSTLER_TEXT_MESSAGE, f.message)
	c.setText(C.HOSTLER_TEXT_PROVIDER_CODE, f.code)
	return f.status
}

func (c Call) setText(field C.uint32_t, text string) {
	if text == "" {
		return
	}
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	C.bridge_set_text(c.op, field, copied, C.size_t(len(text)))
}

// atMost is d, or what is left until the deadline, which is a time of CLOCK_MONOTONIC.
func (c Call) atMost(d time.Duration) time.Duration {
	if c.op.deadline_mono_ns == 0 {
		return d
	}
	var now C.struct_timespec
	C.clock_gettime(C.CLOCK_MONOTONIC, &now)
	left := time.Duration(int64(c.op.deadline_mono_ns) - int64(now.tv_sec)*1e9 - int64(now.tv_nsec))
	if left < d {
		return left
	}
	return d
}

func (c Call) goOn() error {
	if c.atMost(time.Second) <= 0 {
		return failure(timeout, "the cloud did not answer in time")
	}
	if C.bridge_is_cancelled(c.op) != 0 {
		return failure(cancelled, "cancelled by the host")
	}
	return nil
}

// Memory of C for one record: Go's may not hold pointers to Go's own when C sees it.
type memory struct{ blocks []unsafe.Pointer }

func (m *memory) take(n uintptr) unsafe.Pointer {
	block := C.calloc(1, C.size_t(n))
	m.blocks = append(m.blocks, block)
	return block
}
func (m *memory) str(text string) C.hostler_str {
	copied := C.CString(text)
	m.blocks = append(m.blocks, unsafe.Pointer(copied))
	return C.hostler_str{ptr: copied, len: C.size_t(len(text))}
}
func (m *memory) free() {
	for _, block := range m.blocks {
		C.free(block)
	}
}

// Texts and tags of a request, copied: they are borrowed until the function returns.
func text(s C.hostler_str) string {
	if s.len == 0 {
		return ""
	}
	return string(unsafe.Slice((*byte)(unsafe.Pointer(s.ptr)), int(s.len)))
}
func texts(first *C.hostler_str, n C.size_t) []string {
	out := []string{}
	if n != 0 {
		for _, s := range unsafe.Slice(first, int(n)) {
			out = append(out, text(s))
		}
	}
	return out
}
func tags(first *C.hostler_kv, n C.size_t) map[string]string {
	out := map[string]string{}
	if n != 0 {
		for _, t := range unsafe.Slice(first, int(n)) {
			out[text(t.key)] = text(t.value)
		}
	}
	return out
}
