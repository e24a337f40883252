#pragma once

#include <cstdint>

#include "hostler/driver.h"

/// The fields of the ABI's structs, in the order of their declaration: the one description from
/// which both directions of the wire are made. A struct that grows gets its new fields at the end
/// of its function here; tests/unit/driver_host compares these functions with the sizes of the
/// structs.
///
/// A visitor V is called with each field:
///   v(integer) or v(text); v.reserved(word)
///   v.array(pointer, count) of hostler_str, hostler_kv, hostler_address, hostler_gpu_group
///   v.bytes(pointer, count); v.one(pointer to a growable struct)
///   v.each(pointer to pointers to growable structs, count)
/// struct_size is not among the fields: it is the visitor's matter.
namespace hostler::driver_host {

// ---- records -----------------------------------------------------------------------------------

template <class V>
void visit(hostler_instance& r, V& v) {
  v(r.kind);
  v(r.id), v(r.request_id), v(r.idempotency_key), v(r.set_id), v(r.owner);
  v(r.remote_user), v(r.zone);
  v(r.state_reason), v(r.state_error);
  v.array(r.addresses, r.n_addresses);
  v.array(r.tags, r.n_tags);
  v(r.created_unix_ns), v(r.interruption_unix_ns), v(r.price_micros_per_hour);
  v(r.state), v(r.flags), v(r.market), v(r.ssh_port);
  v(r.state_error_status), v(r.state_error_scope);
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

template <class V>
void visit(hostler_offering& r, V& v) {
  v(r.kind);
  v(r.provider_type), v(r.region), v(r.zone), v(r.architecture);
  v(r.price_micros_per_hour), v(r.ram_bytes), v(r.scratch_bytes);
  v(r.vcpus), v(r.gpus), v(r.market), v(r.available);
  v.array(r.gpu_groups, r.n_gpu_groups);
}

template <class V>
void visit(hostler_interruption& r, V& v) {
  v(r.kind);
  v(r.instance_id), v(r.text), v(r.interruption_unix_ns), v(r.action);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_console& r, V& v) {
  v(r.kind);
  v(r.offset);
  v.bytes(r.bytes, r.n_bytes);
  v(r.as_of_unix_ns);
}

template <class V>
void visit(hostler_leftover& r, V& v) {
  v(r.kind);
  v(r.type), v(r.id), v(r.instance_id);
  v.array(r.tags, r.n_tags);
  v(r.created_unix_ns);
}

template <class V>
void visit(hostler_image& r, V& v) {
  v(r.kind);
  v(r.id), v(r.name), v(r.owner), v(r.architecture), v(r.created_unix_ns);
}

/// Returns `take.operator()<Record>()` with the struct of this kind of record; true if the kind is
/// not known: such records are ignored (R9).
template <class Take>
bool as_record_of(std::uint32_t kind, const Take& take) {
  switch (kind) {
    case HOSTLER_REC_INSTANCE:
      return take.template operator()<hostler_instance>();
    case HOSTLER_REC_SET_INFO:
      return take.template operator()<hostler_set_info>();
    case HOSTLER_REC_PRICE:
      return take.template operator()<hostler_price>();
    case HOSTLER_REC_QUOTA_GROUP:
      return take.template operator()<hostler_quota_group>();
    case HOSTLER_REC_OFFERING:
      return take.template operator()<hostler_offering>();
    case HOSTLER_REC_INTERRUPTION:
      return take.template operator()<hostler_interruption>();
    case HOSTLER_REC_CONSOLE:
      return take.template operator()<hostler_console>();
    case HOSTLER_REC_LEFTOVER:
      return take.template operator()<hostler_leftover>();
    case HOSTLER_REC_IMAGE:
      return take.template operator()<hostler_image>();
    default:
      return true;
  }
}

// ---- requests ----------------------------------------------------------------------------------

template <class V>
void visit(hostler_instance_type& r, V& v) {
  v(r.flags);
  v(r.name), v(r.provider_type), v(r.provider_params_json);
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
  v(r.idempotency_key), v(r.host_instance_id), v(r.owner);
  v.one(r.type);
  v(r.region), v(r.zone), v(r.subnet), v(r.image_id), v(r.name_hint);
  v.one(r.user_data);
  v(r.ssh_host_key_private), v(r.ssh_host_key_public);
  v.array(r.ssh_public_keys, r.n_ssh_public_keys);
  v.array(r.tags, r.n_tags);
  v.each(r.disks, r.n_disks);
  v.array(r.security_groups, r.n_security_groups);
  v.array(r.profiles, r.n_profiles);
  v(r.placement_group), v(r.capacity_reservation), v(r.identity_profile);
  v(r.price_cap_micros_per_hour);
  v(r.market), v(r.tenancy), v(r.public_ip);
  v.reserved(r.reserved0);
  v(r.remote_user);
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
  v(r.id), v(r.idempotency_key), v(r.expected_set_id);
}

template <class V>
void visit(hostler_set_tags_req& r, V& v) {
  v(r.flags);
  v(r.id);
  v.array(r.set, r.n_set);
}

template <class V>
void visit(hostler_verify_req& r, V& v) {
  v(r.flags);
  v(r.id), v(r.key_algo);
  v.bytes(r.key_blob, r.n_key_blob);
}

template <class V>
void visit(hostler_price_req& r, V& v) {
  v(r.flags);
  v.one(r.type);
  v(r.since_unix_ns), v(r.market);
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
  v(r.id), v(r.expected_set_id);
}

template <class V>
void visit(hostler_offerings_req& r, V& v) {
  v(r.flags);
  v.array(r.provider_types, r.n_provider_types);
  v(r.market);
  v.reserved(r.reserved0);
}

template <class V>
void visit(hostler_interruption_req& r, V& v) {
  v(r.flags);
}

template <class V>
void visit(hostler_console_req& r, V& v) {
  v(r.flags);
  v(r.id), v(r.offset), v(r.bytes_max);
}

template <class V>
void visit(hostler_leftover_list_req& r, V& v) {
  v(r.flags);
  v.array(r.tag_filter, r.n_tag_filter);
}

template <class V>
void visit(hostler_leftover_destroy_req& r, V& v) {
  v(r.flags);
  v(r.type), v(r.id), v(r.expected_set_id);
}

template <class V>
void visit(hostler_images_req& r, V& v) {
  v(r.flags);
  v(r.name), v(r.owner), v(r.architecture);
  v.array(r.filters, r.n_filters);
}

}  // namespace hostler::driver_host
