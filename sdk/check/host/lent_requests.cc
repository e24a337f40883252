#include <vector>

#include "sdk/check/host/lent_memory.h"

namespace hostler::check {
namespace {

const hostler_str* lend_texts(LentMemory& memory, const hostler_str* from, std::size_t n) {
  std::vector<hostler_str> texts(from, from + n);
  for (auto& text : texts) text = memory.lend(text);
  return memory.lend_array(texts.data(), n);
}

const hostler_kv* lend_tags(LentMemory& memory, const hostler_kv* from, std::size_t n) {
  std::vector<hostler_kv> tags(from, from + n);
  for (auto& tag : tags) tag = {memory.lend(tag.key), memory.lend(tag.value)};
  return memory.lend_array(tags.data(), n);
}

const hostler_instance_type* lend_type(LentMemory& memory, hostler_instance_type type) {
  for (hostler_str* text : {&type.name, &type.provider_type, &type.provider_params_json})
    *text = memory.lend(*text);
  return memory.lend_struct(type);
}

const hostler_user_data* lend_user_data(LentMemory& memory, const hostler_user_data* from) {
  if (from == nullptr) return nullptr;
  hostler_user_data data = *from;
  data.bytes = memory.lend_array(data.bytes, data.n_bytes);
  return memory.lend_struct(data);
}

const hostler_disk* const* lend_disks(LentMemory& memory, const hostler_disk* const* from,
                                      std::size_t n) {
  std::vector<const hostler_disk*> disks;
  for (std::size_t i = 0; i < n; ++i) {
    hostler_disk disk = *from[i];
    disk.kind = memory.lend(disk.kind);
    disks.push_back(memory.lend_struct(disk));
  }
  return memory.lend_array(disks.data(), n);
}

/// A request of nothing but numbers and these texts.
template <class Request>
const Request* lend_with(LentMemory& memory, Request request,
                         std::initializer_list<hostler_str Request::*> texts) {
  for (const auto text : texts) request.*text = memory.lend(request.*text);
  return memory.lend_struct(request);
}

}  // namespace

const hostler_set_config* lend(LentMemory& memory, const hostler_set_config& from) {
  hostler_set_config to = from;
  to.shared_tags = lend_tags(memory, from.shared_tags, from.n_shared_tags);
  return lend_with(memory, to,
                   {&hostler_set_config::set_id, &hostler_set_config::config_json,
                    &hostler_set_config::credentials_json});
}

const hostler_create_req* lend(LentMemory& memory, const hostler_create_req& from) {
  using Req = hostler_create_req;
  Req to = from;
  to.type = lend_type(memory, *from.type);
  to.user_data = lend_user_data(memory, from.user_data);
  to.ssh_public_keys = lend_texts(memory, from.ssh_public_keys, from.n_ssh_public_keys);
  to.tags = lend_tags(memory, from.tags, from.n_tags);
  to.disks = lend_disks(memory, from.disks, from.n_disks);
  to.security_groups = lend_texts(memory, from.security_groups, from.n_security_groups);
  to.profiles = lend_texts(memory, from.profiles, from.n_profiles);
  return lend_with(memory, to,
                   {&Req::idempotency_key, &Req::host_instance_id, &Req::owner, &Req::region,
                    &Req::zone, &Req::subnet, &Req::image_id, &Req::name_hint,
                    &Req::ssh_host_key_private, &Req::ssh_host_key_public, &Req::placement_group,
                    &Req::capacity_reservation, &Req::identity_profile, &Req::remote_user});
}

const hostler_list_req* lend(LentMemory& memory, const hostler_list_req& from) {
  hostler_list_req to = from;
  to.ids = lend_texts(memory, from.ids, from.n_ids);
  to.tag_filter = lend_tags(memory, from.tag_filter, from.n_tag_filter);
  return memory.lend_struct(to);
}

const hostler_destroy_req* lend(LentMemory& memory, const hostler_destroy_req& from) {
  using Req = hostler_destroy_req;
  return lend_with(memory, from, {&Req::id, &Req::idempotency_key, &Req::expected_set_id});
}

const hostler_set_tags_req* lend(LentMemory& memory, const hostler_set_tags_req& from) {
  hostler_set_tags_req to = from;
  to.set = lend_tags(memory, from.set, from.n_set);
  return lend_with(memory, to, {&hostler_set_tags_req::id});
}

const hostler_set_info_req* lend(LentMemory& memory, const hostler_set_info_req& from) {
  return memory.lend_struct(from);
}

const hostler_verify_req* lend(LentMemory& memory, const hostler_verify_req& from) {
  hostler_verify_req to = from;
  to.key_blob = memory.lend_array(from.key_blob, from.n_key_blob);
  return lend_with(memory, to, {&hostler_verify_req::id, &hostler_verify_req::key_algo});
}

const hostler_price_req* lend(LentMemory& memory, const hostler_price_req& from) {
  hostler_price_req to = from;
  to.type = lend_type(memory, *from.type);
  return memory.lend_struct(to);
}

const hostler_quota_group_req* lend(LentMemory& memory, const hostler_quota_group_req& from) {
  hostler_quota_group_req to = from;
  to.type = lend_type(memory, *from.type);
  return memory.lend_struct(to);
}

const hostler_power_req* lend(LentMemory& memory, const hostler_power_req& from) {
  return lend_with(memory, from, {&hostler_power_req::id, &hostler_power_req::expected_set_id});
}

const hostler_offerings_req* lend(LentMemory& memory, const hostler_offerings_req& from) {
  hostler_offerings_req to = from;
  to.provider_types = lend_texts(memory, from.provider_types, from.n_provider_types);
  return memory.lend_struct(to);
}

const hostler_interruption_req* lend(LentMemory& memory, const hostler_interruption_req& from) {
  return memory.lend_struct(from);
}

const hostler_console_req* lend(LentMemory& memory, const hostler_console_req& from) {
  return lend_with(memory, from, {&hostler_console_req::id});
}

const hostler_leftover_list_req* lend(LentMemory& memory, const hostler_leftover_list_req& from) {
  hostler_leftover_list_req to = from;
  to.tag_filter = lend_tags(memory, from.tag_filter, from.n_tag_filter);
  return memory.lend_struct(to);
}

const hostler_leftover_destroy_req* lend(LentMemory& memory,
                                         const hostler_leftover_destroy_req& from) {
  using Req = hostler_leftover_destroy_req;
  return lend_with(memory, from, {&Req::type, &Req::id, &Req::expected_set_id});
}

const hostler_images_req* lend(LentMemory& memory, const hostler_images_req& from) {
  using Req = hostler_images_req;
  Req to = from;
  to.filters = lend_tags(memory, from.filters, from.n_filters);
  return lend_with(memory, to, {&Req::name, &Req::owner, &Req::architecture});
}

}  // namespace hostler::check
