/* The layout that the ABI promises. Compile it with a driver's own flags: what changes the
 * layout (-fpack-struct, -fshort-enums, -m32) stops here. Made by tests/abi/abi_gate.py. */
#include "hostler/driver.h"

#define HOSTLER_JOIN2(a, b) a##b
#define HOSTLER_JOIN(a, b) HOSTLER_JOIN2(a, b)
#define HOSTLER_ASSERT(x) typedef char HOSTLER_JOIN(hostler_assert_, __LINE__)[(x) ? 1 : -1]
#define HOSTLER_SIZE(T, n) HOSTLER_ASSERT(sizeof(T) == (n))
#define HOSTLER_AT(T, field, n) HOSTLER_ASSERT(offsetof(T, field) == (n))

HOSTLER_SIZE(hostler_str, 16);
HOSTLER_AT(hostler_str, ptr, 0);
HOSTLER_AT(hostler_str, len, 8);

HOSTLER_SIZE(hostler_kv, 32);
HOSTLER_AT(hostler_kv, key, 0);
HOSTLER_AT(hostler_kv, value, 16);

HOSTLER_SIZE(hostler_address, 24);
HOSTLER_AT(hostler_address, scope, 0);
HOSTLER_AT(hostler_address, reserved0, 4);
HOSTLER_AT(hostler_address, text, 8);

HOSTLER_SIZE(hostler_rec, 8);
HOSTLER_AT(hostler_rec, struct_size, 0);
HOSTLER_AT(hostler_rec, kind, 4);

HOSTLER_SIZE(hostler_error, 48);
HOSTLER_AT(hostler_error, struct_size, 0);
HOSTLER_AT(hostler_error, scope, 4);
HOSTLER_AT(hostler_error, flags, 8);
HOSTLER_AT(hostler_error, reserved0, 12);
HOSTLER_AT(hostler_error, retry_after_ms, 16);
HOSTLER_AT(hostler_error, quota_limit, 24);
HOSTLER_AT(hostler_error, quota_used, 32);
HOSTLER_AT(hostler_error, set_text, 40);

HOSTLER_SIZE(hostler_op, 56);
HOSTLER_AT(hostler_op, struct_size, 0);
HOSTLER_AT(hostler_op, reserved0, 4);
HOSTLER_AT(hostler_op, deadline_mono_ns, 8);
HOSTLER_AT(hostler_op, error, 16);
HOSTLER_AT(hostler_op, is_cancelled, 24);
HOSTLER_AT(hostler_op, on_cancel, 32);
HOSTLER_AT(hostler_op, emit, 40);
HOSTLER_AT(hostler_op, complete, 48);

HOSTLER_SIZE(hostler_log_line, 40);
HOSTLER_AT(hostler_log_line, struct_size, 0);
HOSTLER_AT(hostler_log_line, level, 4);
HOSTLER_AT(hostler_log_line, set, 8);
HOSTLER_AT(hostler_log_line, op, 16);
HOSTLER_AT(hostler_log_line, message, 24);

HOSTLER_SIZE(hostler_host, 64);
HOSTLER_AT(hostler_host, struct_size, 0);
HOSTLER_AT(hostler_host, abi_major, 4);
HOSTLER_AT(hostler_host, abi_minor, 8);
HOSTLER_AT(hostler_host, abi_draft, 12);
HOSTLER_AT(hostler_host, name, 16);
HOSTLER_AT(hostler_host, version, 24);
HOSTLER_AT(hostler_host, records_max, 32);
HOSTLER_AT(hostler_host, record_bytes_max, 40);
HOSTLER_AT(hostler_host, log, 48);
HOSTLER_AT(hostler_host, get_extension, 56);

HOSTLER_SIZE(hostler_instance, 232);
HOSTLER_AT(hostler_instance, struct_size, 0);
HOSTLER_AT(hostler_instance, kind, 4);
HOSTLER_AT(hostler_instance, id, 8);
HOSTLER_AT(hostler_instance, request_id, 24);
HOSTLER_AT(hostler_instance, idempotency_key, 40);
HOSTLER_AT(hostler_instance, set_id, 56);
HOSTLER_AT(hostler_instance, owner, 72);
HOSTLER_AT(hostler_instance, remote_user, 88);
HOSTLER_AT(hostler_instance, zone, 104);
HOSTLER_AT(hostler_instance, state_reason, 120);
HOSTLER_AT(hostler_instance, state_error, 136);
HOSTLER_AT(hostler_instance, addresses, 152);
HOSTLER_AT(hostler_instance, n_addresses, 160);
HOSTLER_AT(hostler_instance, tags, 168);
HOSTLER_AT(hostler_instance, n_tags, 176);
HOSTLER_AT(hostler_instance, created_unix_ns, 184);
HOSTLER_AT(hostler_instance, interruption_unix_ns, 192);
HOSTLER_AT(hostler_instance, price_micros_per_hour, 200);
HOSTLER_AT(hostler_instance, state, 208);
HOSTLER_AT(hostler_instance, flags, 212);
HOSTLER_AT(hostler_instance, market, 216);
HOSTLER_AT(hostler_instance, ssh_port, 220);
HOSTLER_AT(hostler_instance, state_error_status, 224);
HOSTLER_AT(hostler_instance, state_error_scope, 228);

HOSTLER_SIZE(hostler_set_info, 112);
HOSTLER_AT(hostler_set_info, struct_size, 0);
HOSTLER_AT(hostler_set_info, kind, 4);
HOSTLER_AT(hostler_set_info, account_id, 8);
HOSTLER_AT(hostler_set_info, region, 24);
HOSTLER_AT(hostler_set_info, currency, 40);
HOSTLER_AT(hostler_set_info, capabilities, 56);
HOSTLER_AT(hostler_set_info, list_consistency_ms, 64);
HOSTLER_AT(hostler_set_info, list_interval_min_ms, 72);
HOSTLER_AT(hostler_set_info, user_data_max_bytes, 80);
HOSTLER_AT(hostler_set_info, max_concurrency, 88);
HOSTLER_AT(hostler_set_info, tags_max, 92);
HOSTLER_AT(hostler_set_info, tag_key_max, 96);
HOSTLER_AT(hostler_set_info, tag_value_max, 100);
HOSTLER_AT(hostler_set_info, name_max, 104);
HOSTLER_AT(hostler_set_info, reserved0, 108);

HOSTLER_SIZE(hostler_instance_type, 96);
HOSTLER_AT(hostler_instance_type, struct_size, 0);
HOSTLER_AT(hostler_instance_type, flags, 4);
HOSTLER_AT(hostler_instance_type, name, 8);
HOSTLER_AT(hostler_instance_type, provider_type, 24);
HOSTLER_AT(hostler_instance_type, provider_params_json, 40);
HOSTLER_AT(hostler_instance_type, ram_bytes, 56);
HOSTLER_AT(hostler_instance_type, scratch_bytes, 64);
HOSTLER_AT(hostler_instance_type, price_micros_per_hour, 72);
HOSTLER_AT(hostler_instance_type, vcpus, 80);
HOSTLER_AT(hostler_instance_type, gpus, 84);
HOSTLER_AT(hostler_instance_type, market, 88);
HOSTLER_AT(hostler_instance_type, reserved0, 92);

HOSTLER_SIZE(hostler_set_config, 72);
HOSTLER_AT(hostler_set_config, struct_size, 0);
HOSTLER_AT(hostler_set_config, flags, 4);
HOSTLER_AT(hostler_set_config, set_id, 8);
HOSTLER_AT(hostler_set_config, config_json, 24);
HOSTLER_AT(hostler_set_config, credentials_json, 40);
HOSTLER_AT(hostler_set_config, shared_tags, 56);
HOSTLER_AT(hostler_set_config, n_shared_tags, 64);

HOSTLER_SIZE(hostler_set_info_req, 8);
HOSTLER_AT(hostler_set_info_req, struct_size, 0);
HOSTLER_AT(hostler_set_info_req, flags, 4);

HOSTLER_SIZE(hostler_user_data, 32);
HOSTLER_AT(hostler_user_data, struct_size, 0);
HOSTLER_AT(hostler_user_data, format, 4);
HOSTLER_AT(hostler_user_data, flags, 8);
HOSTLER_AT(hostler_user_data, reserved0, 12);
HOSTLER_AT(hostler_user_data, bytes, 16);
HOSTLER_AT(hostler_user_data, n_bytes, 24);

HOSTLER_SIZE(hostler_disk, 56);
HOSTLER_AT(hostler_disk, struct_size, 0);
HOSTLER_AT(hostler_disk, role, 4);
HOSTLER_AT(hostler_disk, kind, 8);
HOSTLER_AT(hostler_disk, bytes, 24);
HOSTLER_AT(hostler_disk, iops, 32);
HOSTLER_AT(hostler_disk, throughput_bytes_per_s, 40);
HOSTLER_AT(hostler_disk, flags, 48);
HOSTLER_AT(hostler_disk, reserved0, 52);

HOSTLER_SIZE(hostler_create_req, 352);
HOSTLER_AT(hostler_create_req, struct_size, 0);
HOSTLER_AT(hostler_create_req, flags, 4);
HOSTLER_AT(hostler_create_req, idempotency_key, 8);
HOSTLER_AT(hostler_create_req, host_instance_id, 24);
HOSTLER_AT(hostler_create_req, owner, 40);
HOSTLER_AT(hostler_create_req, type, 56);
HOSTLER_AT(hostler_create_req, region, 64);
HOSTLER_AT(hostler_create_req, zone, 80);
HOSTLER_AT(hostler_create_req, subnet, 96);
HOSTLER_AT(hostler_create_req, image_id, 112);
HOSTLER_AT(hostler_create_req, name_hint, 128);
HOSTLER_AT(hostler_create_req, user_data, 144);
HOSTLER_AT(hostler_create_req, ssh_host_key_private, 152);
HOSTLER_AT(hostler_create_req, ssh_host_key_public, 168);
HOSTLER_AT(hostler_create_req, ssh_public_keys, 184);
HOSTLER_AT(hostler_create_req, n_ssh_public_keys, 192);
HOSTLER_AT(hostler_create_req, tags, 200);
HOSTLER_AT(hostler_create_req, n_tags, 208);
HOSTLER_AT(hostler_create_req, disks, 216);
HOSTLER_AT(hostler_create_req, n_disks, 224);
HOSTLER_AT(hostler_create_req, security_groups, 232);
HOSTLER_AT(hostler_create_req, n_security_groups, 240);
HOSTLER_AT(hostler_create_req, profiles, 248);
HOSTLER_AT(hostler_create_req, n_profiles, 256);
HOSTLER_AT(hostler_create_req, placement_group, 264);
HOSTLER_AT(hostler_create_req, capacity_reservation, 280);
HOSTLER_AT(hostler_create_req, identity_profile, 296);
HOSTLER_AT(hostler_create_req, price_cap_micros_per_hour, 312);
HOSTLER_AT(hostler_create_req, market, 320);
HOSTLER_AT(hostler_create_req, tenancy, 324);
HOSTLER_AT(hostler_create_req, public_ip, 328);
HOSTLER_AT(hostler_create_req, reserved0, 332);
HOSTLER_AT(hostler_create_req, remote_user, 336);

HOSTLER_SIZE(hostler_list_req, 40);
HOSTLER_AT(hostler_list_req, struct_size, 0);
HOSTLER_AT(hostler_list_req, flags, 4);
HOSTLER_AT(hostler_list_req, ids, 8);
HOSTLER_AT(hostler_list_req, n_ids, 16);
HOSTLER_AT(hostler_list_req, tag_filter, 24);
HOSTLER_AT(hostler_list_req, n_tag_filter, 32);

HOSTLER_SIZE(hostler_destroy_req, 56);
HOSTLER_AT(hostler_destroy_req, struct_size, 0);
HOSTLER_AT(hostler_destroy_req, flags, 4);
HOSTLER_AT(hostler_destroy_req, id, 8);
HOSTLER_AT(hostler_destroy_req, idempotency_key, 24);
HOSTLER_AT(hostler_destroy_req, expected_set_id, 40);

HOSTLER_SIZE(hostler_set_tags_req, 40);
HOSTLER_AT(hostler_set_tags_req, struct_size, 0);
HOSTLER_AT(hostler_set_tags_req, flags, 4);
HOSTLER_AT(hostler_set_tags_req, id, 8);
HOSTLER_AT(hostler_set_tags_req, set, 24);
HOSTLER_AT(hostler_set_tags_req, n_set, 32);

HOSTLER_SIZE(hostler_driver, 144);
HOSTLER_AT(hostler_driver, struct_size, 0);
HOSTLER_AT(hostler_driver, abi_major, 4);
HOSTLER_AT(hostler_driver, abi_minor, 8);
HOSTLER_AT(hostler_driver, abi_draft, 12);
HOSTLER_AT(hostler_driver, min_host_minor, 16);
HOSTLER_AT(hostler_driver, threading, 20);
HOSTLER_AT(hostler_driver, max_concurrency, 24);
HOSTLER_AT(hostler_driver, flags, 28);
HOSTLER_AT(hostler_driver, name, 32);
HOSTLER_AT(hostler_driver, version, 40);
HOSTLER_AT(hostler_driver, vendor, 48);
HOSTLER_AT(hostler_driver, license, 56);
HOSTLER_AT(hostler_driver, runtime, 64);
HOSTLER_AT(hostler_driver, config_schema_json, 72);
HOSTLER_AT(hostler_driver, set_open, 80);
HOSTLER_AT(hostler_driver, set_close, 88);
HOSTLER_AT(hostler_driver, set_info, 96);
HOSTLER_AT(hostler_driver, create, 104);
HOSTLER_AT(hostler_driver, list, 112);
HOSTLER_AT(hostler_driver, destroy, 120);
HOSTLER_AT(hostler_driver, set_tags, 128);
HOSTLER_AT(hostler_driver, get_extension, 136);

HOSTLER_SIZE(hostler_ext_host_files, 16);
HOSTLER_AT(hostler_ext_host_files, struct_size, 0);
HOSTLER_AT(hostler_ext_host_files, flags, 4);
HOSTLER_AT(hostler_ext_host_files, descriptor, 8);

HOSTLER_SIZE(hostler_verify_req, 56);
HOSTLER_AT(hostler_verify_req, struct_size, 0);
HOSTLER_AT(hostler_verify_req, flags, 4);
HOSTLER_AT(hostler_verify_req, id, 8);
HOSTLER_AT(hostler_verify_req, key_algo, 24);
HOSTLER_AT(hostler_verify_req, key_blob, 40);
HOSTLER_AT(hostler_verify_req, n_key_blob, 48);

HOSTLER_SIZE(hostler_ext_host_key, 16);
HOSTLER_AT(hostler_ext_host_key, struct_size, 0);
HOSTLER_AT(hostler_ext_host_key, reserved0, 4);
HOSTLER_AT(hostler_ext_host_key, verify, 8);

HOSTLER_SIZE(hostler_price, 48);
HOSTLER_AT(hostler_price, struct_size, 0);
HOSTLER_AT(hostler_price, kind, 4);
HOSTLER_AT(hostler_price, zone, 8);
HOSTLER_AT(hostler_price, start_unix_ns, 24);
HOSTLER_AT(hostler_price, price_micros_per_hour, 32);
HOSTLER_AT(hostler_price, market, 40);
HOSTLER_AT(hostler_price, reserved0, 44);

HOSTLER_SIZE(hostler_price_req, 32);
HOSTLER_AT(hostler_price_req, struct_size, 0);
HOSTLER_AT(hostler_price_req, flags, 4);
HOSTLER_AT(hostler_price_req, type, 8);
HOSTLER_AT(hostler_price_req, since_unix_ns, 16);
HOSTLER_AT(hostler_price_req, market, 24);
HOSTLER_AT(hostler_price_req, reserved0, 28);

HOSTLER_SIZE(hostler_ext_price_history, 16);
HOSTLER_AT(hostler_ext_price_history, struct_size, 0);
HOSTLER_AT(hostler_ext_price_history, reserved0, 4);
HOSTLER_AT(hostler_ext_price_history, history, 8);

HOSTLER_SIZE(hostler_quota_group, 24);
HOSTLER_AT(hostler_quota_group, struct_size, 0);
HOSTLER_AT(hostler_quota_group, kind, 4);
HOSTLER_AT(hostler_quota_group, name, 8);

HOSTLER_SIZE(hostler_quota_group_req, 24);
HOSTLER_AT(hostler_quota_group_req, struct_size, 0);
HOSTLER_AT(hostler_quota_group_req, flags, 4);
HOSTLER_AT(hostler_quota_group_req, type, 8);
HOSTLER_AT(hostler_quota_group_req, market, 16);
HOSTLER_AT(hostler_quota_group_req, reserved0, 20);

HOSTLER_SIZE(hostler_ext_quota_group, 16);
HOSTLER_AT(hostler_ext_quota_group, struct_size, 0);
HOSTLER_AT(hostler_ext_quota_group, reserved0, 4);
HOSTLER_AT(hostler_ext_quota_group, group, 8);

HOSTLER_SIZE(hostler_power_req, 40);
HOSTLER_AT(hostler_power_req, struct_size, 0);
HOSTLER_AT(hostler_power_req, flags, 4);
HOSTLER_AT(hostler_power_req, id, 8);
HOSTLER_AT(hostler_power_req, expected_set_id, 24);

HOSTLER_SIZE(hostler_ext_power, 24);
HOSTLER_AT(hostler_ext_power, struct_size, 0);
HOSTLER_AT(hostler_ext_power, reserved0, 4);
HOSTLER_AT(hostler_ext_power, start, 8);
HOSTLER_AT(hostler_ext_power, stop, 16);

HOSTLER_SIZE(hostler_gpu_group, 32);
HOSTLER_AT(hostler_gpu_group, kind, 0);
HOSTLER_AT(hostler_gpu_group, memory_bytes, 16);
HOSTLER_AT(hostler_gpu_group, count, 24);
HOSTLER_AT(hostler_gpu_group, reserved0, 28);

HOSTLER_SIZE(hostler_offering, 128);
HOSTLER_AT(hostler_offering, struct_size, 0);
HOSTLER_AT(hostler_offering, kind, 4);
HOSTLER_AT(hostler_offering, provider_type, 8);
HOSTLER_AT(hostler_offering, region, 24);
HOSTLER_AT(hostler_offering, zone, 40);
HOSTLER_AT(hostler_offering, architecture, 56);
HOSTLER_AT(hostler_offering, price_micros_per_hour, 72);
HOSTLER_AT(hostler_offering, ram_bytes, 80);
HOSTLER_AT(hostler_offering, scratch_bytes, 88);
HOSTLER_AT(hostler_offering, vcpus, 96);
HOSTLER_AT(hostler_offering, gpus, 100);
HOSTLER_AT(hostler_offering, market, 104);
HOSTLER_AT(hostler_offering, available, 108);
HOSTLER_AT(hostler_offering, gpu_groups, 112);
HOSTLER_AT(hostler_offering, n_gpu_groups, 120);

HOSTLER_SIZE(hostler_offerings_req, 32);
HOSTLER_AT(hostler_offerings_req, struct_size, 0);
HOSTLER_AT(hostler_offerings_req, flags, 4);
HOSTLER_AT(hostler_offerings_req, provider_types, 8);
HOSTLER_AT(hostler_offerings_req, n_provider_types, 16);
HOSTLER_AT(hostler_offerings_req, market, 24);
HOSTLER_AT(hostler_offerings_req, reserved0, 28);

HOSTLER_SIZE(hostler_ext_offerings, 16);
HOSTLER_AT(hostler_ext_offerings, struct_size, 0);
HOSTLER_AT(hostler_ext_offerings, reserved0, 4);
HOSTLER_AT(hostler_ext_offerings, offerings, 8);

HOSTLER_SIZE(hostler_interruption, 56);
HOSTLER_AT(hostler_interruption, struct_size, 0);
HOSTLER_AT(hostler_interruption, kind, 4);
HOSTLER_AT(hostler_interruption, instance_id, 8);
HOSTLER_AT(hostler_interruption, text, 24);
HOSTLER_AT(hostler_interruption, interruption_unix_ns, 40);
HOSTLER_AT(hostler_interruption, action, 48);
HOSTLER_AT(hostler_interruption, reserved0, 52);

HOSTLER_SIZE(hostler_interruption_req, 8);
HOSTLER_AT(hostler_interruption_req, struct_size, 0);
HOSTLER_AT(hostler_interruption_req, flags, 4);

HOSTLER_SIZE(hostler_ext_interruption, 16);
HOSTLER_AT(hostler_ext_interruption, struct_size, 0);
HOSTLER_AT(hostler_ext_interruption, reserved0, 4);
HOSTLER_AT(hostler_ext_interruption, watch, 8);

HOSTLER_SIZE(hostler_console, 40);
HOSTLER_AT(hostler_console, struct_size, 0);
HOSTLER_AT(hostler_console, kind, 4);
HOSTLER_AT(hostler_console, offset, 8);
HOSTLER_AT(hostler_console, bytes, 16);
HOSTLER_AT(hostler_console, n_bytes, 24);
HOSTLER_AT(hostler_console, as_of_unix_ns, 32);

HOSTLER_SIZE(hostler_console_req, 40);
HOSTLER_AT(hostler_console_req, struct_size, 0);
HOSTLER_AT(hostler_console_req, flags, 4);
HOSTLER_AT(hostler_console_req, id, 8);
HOSTLER_AT(hostler_console_req, offset, 24);
HOSTLER_AT(hostler_console_req, bytes_max, 32);

HOSTLER_SIZE(hostler_ext_console, 16);
HOSTLER_AT(hostler_ext_console, struct_size, 0);
HOSTLER_AT(hostler_ext_console, reserved0, 4);
HOSTLER_AT(hostler_ext_console, read, 8);

HOSTLER_SIZE(hostler_leftover, 80);
HOSTLER_AT(hostler_leftover, struct_size, 0);
HOSTLER_AT(hostler_leftover, kind, 4);
HOSTLER_AT(hostler_leftover, type, 8);
HOSTLER_AT(hostler_leftover, id, 24);
HOSTLER_AT(hostler_leftover, instance_id, 40);
HOSTLER_AT(hostler_leftover, tags, 56);
HOSTLER_AT(hostler_leftover, n_tags, 64);
HOSTLER_AT(hostler_leftover, created_unix_ns, 72);

HOSTLER_SIZE(hostler_leftover_list_req, 24);
HOSTLER_AT(hostler_leftover_list_req, struct_size, 0);
HOSTLER_AT(hostler_leftover_list_req, flags, 4);
HOSTLER_AT(hostler_leftover_list_req, tag_filter, 8);
HOSTLER_AT(hostler_leftover_list_req, n_tag_filter, 16);

HOSTLER_SIZE(hostler_leftover_destroy_req, 56);
HOSTLER_AT(hostler_leftover_destroy_req, struct_size, 0);
HOSTLER_AT(hostler_leftover_destroy_req, flags, 4);
HOSTLER_AT(hostler_leftover_destroy_req, type, 8);
HOSTLER_AT(hostler_leftover_destroy_req, id, 24);
HOSTLER_AT(hostler_leftover_destroy_req, expected_set_id, 40);

HOSTLER_SIZE(hostler_ext_leftovers, 24);
HOSTLER_AT(hostler_ext_leftovers, struct_size, 0);
HOSTLER_AT(hostler_ext_leftovers, reserved0, 4);
HOSTLER_AT(hostler_ext_leftovers, list, 8);
HOSTLER_AT(hostler_ext_leftovers, destroy, 16);

HOSTLER_SIZE(hostler_image, 80);
HOSTLER_AT(hostler_image, struct_size, 0);
HOSTLER_AT(hostler_image, kind, 4);
HOSTLER_AT(hostler_image, id, 8);
HOSTLER_AT(hostler_image, name, 24);
HOSTLER_AT(hostler_image, owner, 40);
HOSTLER_AT(hostler_image, architecture, 56);
HOSTLER_AT(hostler_image, created_unix_ns, 72);

HOSTLER_SIZE(hostler_images_req, 72);
HOSTLER_AT(hostler_images_req, struct_size, 0);
HOSTLER_AT(hostler_images_req, flags, 4);
HOSTLER_AT(hostler_images_req, name, 8);
HOSTLER_AT(hostler_images_req, owner, 24);
HOSTLER_AT(hostler_images_req, architecture, 40);
HOSTLER_AT(hostler_images_req, filters, 56);
HOSTLER_AT(hostler_images_req, n_filters, 64);

HOSTLER_SIZE(hostler_ext_images, 16);
HOSTLER_AT(hostler_ext_images, struct_size, 0);
HOSTLER_AT(hostler_ext_images, reserved0, 4);
HOSTLER_AT(hostler_ext_images, find, 8);
