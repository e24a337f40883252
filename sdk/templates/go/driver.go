// The driver mycloud: what hostler asks for, in the words of the cloud. It keeps nothing in memory
// but its settings, so calls may come from many threads, and a new process goes on where one ended.
package main

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"runtime/cgo"
	"unsafe"
)

func main() {} // c-shared needs it; nobody calls it

// What cannot be done is refused, never left out (law 6 of driver.h).
func noFlags(flags C.uint32_t) error {
	if flags == 0 {
		return nil
	}
	return failure(unsupported, "flags %d of the request are newer than this driver", uint32(flags))
}

func refuseWishes(r *C.hostler_create_req) error {
	kind, data := r._type, r.user_data
	if params := text(kind.provider_params_json); params != "" && params != "{}" {
		return failure(unsupported, "provider_params is not for this driver: it knows none")
	}
	wishes := []struct {
		isAsked bool
		wish    string
	}{
		{r.flags != 0 || kind.flags != 0, "a flag that is newer than this driver"},
		{r.market > C.HOSTLER_MARKET_ON_DEMAND || kind.market > C.HOSTLER_MARKET_ON_DEMAND, "spot, or another market"},
		{r.tenancy != 0, "tenancy"},
		{r.public_ip != C.HOSTLER_PUBLIC_IP_DEFAULT && r.public_ip != C.HOSTLER_PUBLIC_IP_NO, "public addresses"},
		{kind.gpus != 0, "GPUs"},
		{r.n_disks != 0, "disks"},
		{r.zone.len != 0 || r.region.len != 0, "zones and regions"},
		{r.subnet.len != 0, "subnets"},
		{r.image_id.len != 0, "images"},
		{r.n_security_groups != 0, "security groups"},
		{r.n_profiles != 0, "profiles"},
		{r.placement_group.len != 0, "placement groups"},
		{r.capacity_reservation.len != 0, "capacity reservations"},
		{r.identity_profile.len != 0, "identity profiles"},
		{r.remote_user.len != 0, "login users to choose from"},
		{data != nil && (data.format > C.HOSTLER_USER_DATA_SH || data.flags&^C.HOSTLER_USER_DATA_SECRET != 0), "user data of this form"},
	}
	for _, w := range wishes {
		if w.isAsked {
			return failure(unsupported, "this cloud does not have %s", w.wish)
		}
	}
	return nil
}

func (c Call) emit(record unsafe.Pointer) error {
	if C.bridge_emit(c.op, record) != 0 {
		return failure(cancelled, "stopped by the host")
	}
	return nil
}

func (c Call) emitMachine(one *Machine) error {
	var m memory
	defer m.free()
	out := (*C.hostler_instance)(m.take(C.sizeof_hostler_instance))
	out.struct_size = C.sizeof_hostler_instance
	out.kind = C.HOSTLER_REC_INSTANCE
	out.id = m.str(one.ID)
	out.idempotency_key = m.str(one.Key)
	// Whose it is comes back from the tags: hostler trusts nothing else.
	out.set_id = m.str(one.Tags["hostler-set"])
	out.owner = m.str(one.Tags["hostler-owner"])
	out.remote_user = m.str(one.User)
	if one.Address != "" {
		address := (*C.hostler_address)(m.take(C.sizeof_hostler_address))
		address.scope = C.HOSTLER_ADDRESS_PRIVATE
		address.text = m.str(one.Address)
		out.addresses, out.n_addresses = address, 1
	}
	if n := len(one.Tags); n != 0 {
		first := (*C.hostler_kv)(m.take(C.sizeof_hostler_kv * uintptr(n)))
		list := unsafe.Slice(first, n)
		i := 0
		for key, value := range one.Tags {
			list[i] = C.hostler_kv{key: m.str(key), value: m.str(value)}
			i++
		}
		out.tags, out.n_tags = first, C.size_t(n)
	}
	out.created_unix_ns = C.int64_t(one.CreatedMs * 1e6)
	out.price_micros_per_hour = -1
	out.state = map[string]C.uint32_t{"running": C.HOSTLER_STATE_RUNNING, "booting": C.HOSTLER_STATE_PENDING,
		"failed": C.HOSTLER_STATE_FAILED}[one.State] // others: UNKNOWN, 0
	out.market = C.HOSTLER_MARKET_ON_DEMAND
	out.ssh_port = C.uint32_t(one.Port)
	return c.emit(unsafe.Pointer(out))
}

func (one *Machine) check() error {
	if one == nil || one.ID == "" || one.Tags == nil {
		return failure(transient, "the machine in the cloud's answer has no id or no tags")
	}
	return nil
}

// machines asks for all. A list is complete or an error: what is not understood is not left out.
func (cloud *Cloud) machines(call Call) ([]Machine, error) {
	answer, err := cloud.ask(call, map[string]any{"op": "list"})
	if err != nil {
		return nil, err
	}
	var all []Machine
	if json.Unmarshal(answer.Machines, &all) != nil || all == nil {
		return nil, failure(transient, "the cloud has sent no list")
	}
	for i := range all {
		if err := all[i].check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func isWanted(one *Machine, ids []string, filter map[string]string) bool {
	wanted := len(ids) == 0
	for _, id := range ids {
		wanted = wanted || id == one.ID
	}
	for key, value := range filter {
		found, has := one.Tags[key]
		wanted = wanted && has && found == value
	}
	return wanted
}

func cloudOf(set C.uintptr_t) *Cloud { return cgo.Handle(set).Value().(*Cloud) }

// The functions of the table, in the order of driver.h.

//export goSetOpen
func goSetOpen(c *C.hostler_set_config, op *C.hostler_op, out *C.uintptr_t) C.hostler_status {
	call := Call{op}
	return call.run(func() error {
		if err := noFlags(c.flags); err != nil {
			return err
		}
		cloud, err := newCloud(text(c.config_json), text(c.credentials_json))
		if err != nil {
			return err
		}
		// Wrong credentials show now, not at the first machine.
		if _, err := cloud.ask(call, map[string]any{"op": "info"}); err != nil {
			return err
		}
		*out = C.uintptr_t(cgo.NewHandle(cloud))
		return nil
	})
}

//export goSetClose
func goSetClose(set C.uintptr_t) { cgo.Handle(set).Delete() }

//export goSetInfo
func goSetInfo(set C.uintptr_t, r *C.hostler_set_info_req, op *C.hostler_op) C.hostler_status {
	call := Call{op}
	return call.run(func() error {
		if err := noFlags(r.flags); err != nil {
			return err
		}
		var m memory
		defer m.free()
		out := (*C.hostler_set_info)(m.take(C.sizeof_hostler_set_info))
		out.struct_size = C.sizeof_hostler_set_info
		out.kind = C.HOSTLER_REC_SET_INFO
		out.account_id = m.str(cloudOf(set).host)
		out.capabilities = C.HOSTLER_CAP_CREATE_TOKEN_NATIVE | C.HOSTLER_CAP_HOST_KEY_INJECT | C.HOSTLER_CAP_USER_DATA
		out.list_consistency_ms = 1 // at once; 0 would mean that nobody knows
		out.user_data_max_bytes = 256 * 1024
		out.tags_max = 64
		out.tag_key_max = 128
		out.tag_value_max = 255
		return call.emit(unsafe.Pointer(out))
	})
}

//export goCreate
func goCreate(set C.uintptr_t, r *C.hostler_create_req, op *C.hostler_op) C.hostler_status {
	call := Call{op}
	return call.run(func() error {
		if err := refuseWishes(r); err != nil {
			return err
		}
		request := map[string]any{"op": "create", "key": text(r.idempotency_key),
			"authorized_keys": texts(r.ssh_public_keys, r.n_ssh_public_keys), "tags": tags(r.tags, r.n_tags)}
		if r.ssh_host_key_private.len != 0 {
			request["host_key"] = text(r.ssh_host_key_private)
		}
		if r.user_data != nil && r.user_data.n_bytes != 0 {
			request["user_data"] = string(unsafe.Slice((*byte)(r.user_data.bytes), int(r.user_data.n_bytes)))
		}
		answer, err := cloudOf(set).ask(call, request)
		if err != nil {
			return err
		}
		if err := answer.Machine.check(); err != nil {
			return unknownOutcome(err)
		}
		return call.emitMachine(answer.Machine)
	})
}

//export goList
func goList(set C.uintptr_t, r *C.hostler_list_req, op *C.hostler_op) C.hostler_status {
	call := Call{op}
	return call.run(func() error {
		if err := noFlags(r.flags); err != nil {
			return err
		}
		ids, filter := texts(r.ids, r.n_ids), tags(r.tag_filter, r.n_tag_filter)
		all, err := cloudOf(set).machines(call)
		for i := 0; err == nil && i < len(all); i++ {
			if isWanted(&all[i], ids, filter) {
				err = call.emitMachine(&all[i])
			}
		}
		return err
	})
}

// What is not there is destroyed already: OK.
//
//export goDestroy
func goDestroy(set C.uintptr_t, r *C.hostler_destroy_req, op *C.hostler_op) C.hostler_status {
	call := Call{op}
	return call.run(func() error {
		if err := noFlags(r.flags); err != nil {
			return err
		}
		id, expected := text(r.id), text(r.expected_set_id)
		all, err := cloudOf(set).machines(call)
		for _, one := range all {
			if one.ID != id {
				continue
			}
			if expected != "" && one.Tags["hostler-set"] != expected {
				return failure(conflict, "%s is another set's", id)
			}
			_, err = cloudOf(set).ask(call, map[string]any{"op": "destroy", "id": id})
		}
		return err
	})
}

//export goSetTags
func goSetTags(set C.uintptr_t, r *C.hostler_set_tags_req, op *C.hostler_op) C.hostler_status {
	call := Call{op}
	return call.run(func() error {
		if err := noFlags(r.flags); err != nil {
			return err
		}
		_, err := cloudOf(set).ask(call, map[string]any{"op": "tag", "id": text(r.id), "tags": tags(r.set, r.n_set)})
		return err
	})
}
