#pragma once

#include "hostler/driver.h"

/// The fields of the ABI's structs, in the order of their declaration: the one description from
/// which both directions of the wire are made. A struct that grows gets its new fields at the end
/// of its function here; tests/unit/driver_host compares these functions with the sizes of the
/// structs.
///
/// A visitor V is called with each field:
///   v(integer) or v(text); v.reserved(word)
///   v.array(pointer, count) of hostler_str, hostler_kv, hostler_address
///   v.bytes(pointer, count); v.one(pointer to a growable struct)
///   v.each(pointer to pointers to growable structs, count)
/// struct_size is not among the fields: it is the visitor's matter.
namespace hostler::driver_host {

// ---- records -----------------------------------------------------------------------------------

template <class V>
void visit(hostler_instance& r, V& v) {
  v(r.kind);
  v(r.id), v(r.request_id), v(r.idempotency_key), v(r.set_id), v(r.owner), v(r.name);
  v(r.provider_type), v(r.image_id), v(r.remote_user), v(r.region), v(r.zone), v(r.state_reason);
  v.array(r.addresses, r.n_addresses);
  v.array(r.tags, r.n_tags);
  v(r.created_unix_ns), v(r.interruption_unix_ns), v(r.price_micros_per_hour);
  v(r.state), v(r.flags), v(r.market), v(r.ssh_port);
}

template <class V>
void visit(hostler_set_info& r, V& v) {
  v(r.kind);
  v(r.account_id), v(r.region), v(r.currency);
  v(r.capabilities), v(r.list_consistency_ms), v(r.list_interval_min_ms);
  v(r.user_data_max_bytes), v(r.max_concurrency);
  v(r.tags_max), v(r.tag_key_max), v(r.tag_value_max), v(r.name_max);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_price& r, V& v) {
  v(r.kind);
  v(r.zone), v(r.start_unix_ns), v(r.price_micros_per_hour), v(r.market);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_quota_group& r, V& v) {
  v(r.kind);
  v(r.name);
}

// ---- requests ----------------------------------------------------------------------------------

template <class V>
void visit(hostler_instance_type& r, V& v) {
  v(r.flags);
  v(r.name), v(r.provider_type), v(r.quota_group), v(r.provider_params_json);
  v(r.ram_bytes), v(r.scratch_bytes), v(r.price_micros_per_hour);
  v(r.vcpus), v(r.gpus), v(r.market);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_set_config& r, V& v) {
  v(r.flags);
  v(r.set_id), v(r.config_json), v(r.credentials_json);
  v.array(r.shared_tags, r.n_shared_tags);
}

template <class V>
void visit(hostler_set_info_req& r, V& v) {
  v(r.flags);
}

template <class V>
void visit(hostler_user_data& r, V& v) {
  v(r.format), v(r.flags);
  v.reserved(r.reserved0);
  v.bytes(r.bytes, r.n_bytes);
}

template <class V>
void visit(hostler_disk& r, V& v) {
  v(r.role), v(r.kind);
  v(r.bytes), v(r.iops), v(r.throughput_bytes_per_s), v(r.flags);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_create_req& r, V& v) {
  v(r.flags);
  v(r.idempotency_key), v(r.host_instance_id), v(r.owner), v(r.epoch);
  v.one(r.type);
  v(r.region), v(r.zone), v(r.subnet), v(r.image_id), v(r.name_hint);
  v.one(r.user_data);
  v(r.ssh_host_key_private), v(r.ssh_host_key_public);
  v.array(r.ssh_public_keys, r.n_ssh_public_keys);
  v.array(r.tags, r.n_tags);
  v.each(r.disks, r.n_disks);
  v(r.placement_group), v(r.capacity_reservation), v(r.identity_profile);
  v(r.price_cap_micros_per_hour);
  v(r.market), v(r.tenancy), v(r.public_ip);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_list_req& r, V& v) {
  v(r.flags);
  v.array(r.ids, r.n_ids);
  v.array(r.tag_filter, r.n_tag_filter);
}

template <class V>
void visit(hostler_destroy_req& r, V& v) {
  v(r.flags);
  v(r.id), v(r.idempotency_key), v(r.expected_set_id), v(r.reason);
}

template <class V>
void visit(hostler_set_tags_req& r, V& v) {
  v(r.flags);
  v(r.id);
  v.array(r.set, r.n_set);
  v.array(r.remove, r.n_remove);
}

template <class V>
void visit(hostler_verify_req& r, V& v) {
  v(r.flags);
  v(r.id), v(r.address), v(r.key_algo);
  v.bytes(r.key_blob, r.n_key_blob);
}

template <class V>
void visit(hostler_price_req& r, V& v) {
  v(r.flags);
  v.one(r.type);
  v(r.zone), v(r.since_unix_ns), v(r.market);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_quota_group_req& r, V& v) {
  v(r.flags);
  v.one(r.type);
  v(r.market);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_power_req& r, V& v) {
  v(r.flags);
  v(r.id), v(r.expected_set_id), v(r.reason);
}

}  // namespace hostler::driver_host
