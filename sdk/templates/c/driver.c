/* The driver mycloud: what hostler asks for, in the words of the cloud. It keeps nothing in memory
 * but its settings, so calls may come from many threads, and a new process goes on where one ended.
 */
#include <stdlib.h>
#include <string.h>

#include "cloud.h"

struct hostler_set {
  struct cloud cloud;
};

/* ---- what cannot be done is refused, never left out (law 6 of driver.h) -----------------------
 */

static hostler_status no_flags(hostler_op* op, uint32_t flags) {
  if (flags == 0) return HOSTLER_OK;
  return fail(op, HOSTLER_E_UNSUPPORTED, "flags %u of the request are newer than this driver",
              flags);
}

static int same(hostler_str a, hostler_str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static hostler_status refuse_wishes(const hostler_create_req* r, hostler_op* op) {
  const hostler_user_data* const data = r->user_data;
  const hostler_str params = r->type->provider_params_json;
  if (params.len != 0 && !same(params, (hostler_str){"{}", 2}))
    return fail(op, HOSTLER_E_UNSUPPORTED, "provider_params is not for this driver: it knows none");
  const char* const wish =
      r->flags != 0 || r->type->flags != 0         ? "a flag that is newer than this driver"
      : r->market > HOSTLER_MARKET_ON_DEMAND       ? "spot, or another market"
      : r->type->market > HOSTLER_MARKET_ON_DEMAND ? "a type of spot, or another market"
      : r->tenancy != HOSTLER_TENANCY_DEFAULT      ? "tenancy"
      : r->public_ip != HOSTLER_PUBLIC_IP_DEFAULT && r->public_ip != HOSTLER_PUBLIC_IP_NO
          ? "a public address"
      : r->type->gpus != 0                     ? "GPUs"
      : r->n_disks != 0                        ? "disks"
      : r->zone.len != 0 || r->region.len != 0 ? "zones and regions"
      : r->subnet.len != 0                     ? "subnets"
      : r->image_id.len != 0                   ? "images"
      : r->n_security_groups != 0              ? "security groups"
      : r->n_profiles != 0                     ? "profiles"
      : r->placement_group.len != 0            ? "placement groups"
      : r->capacity_reservation.len != 0       ? "capacity reservations"
      : r->identity_profile.len != 0           ? "identity profiles"
      : r->remote_user.len != 0                ? "login users to choose from"
      : data != NULL && (data->format > HOSTLER_USER_DATA_SH ||
                         (data->flags & ~HOSTLER_USER_DATA_SECRET) != 0)
          ? "user data of this form"
          : NULL;
  if (wish == NULL) return HOSTLER_OK;
  return fail(op, HOSTLER_E_UNSUPPORTED, "this cloud does not have %s", wish);
}

/* ---- machines of the cloud as records ---------------------------------------------------------
 */

enum { TAGS_MAX = 128 };

struct machine {
  hostler_instance record;
  hostler_address address;
  hostler_kv tags[TAGS_MAX];
};

static hostler_str tag(const struct machine* m, const char* name) {
  const hostler_str key = {name, strlen(name)};
  for (size_t i = 0; i < m->record.n_tags; ++i)
    if (same(m->tags[i].key, key)) return m->tags[i].value;
  return (hostler_str){NULL, 0};
}

static const char kNoMachine[] =
    "the machine in the cloud's answer has no id or no tags, or more than 128 tags";

/* 0 if that is no machine, as kNoMachine says. */
static int read_machine(struct json from, struct answer* a, struct machine* m) {
  memset(m, 0, sizeof *m);
  hostler_instance* const out = &m->record;
  struct json rest = json_member(from, "tags"), key, value;
  if (rest.at == NULL || *rest.at != '{') return 0;
  out->struct_size = sizeof *out;
  out->kind = HOSTLER_REC_INSTANCE;
  out->price_micros_per_hour = -1;
  out->market = HOSTLER_MARKET_ON_DEMAND;
  out->id = json_text(json_member(from, "id"), &a->room);
  out->idempotency_key = json_text(json_member(from, "key"), &a->room);
  out->remote_user = json_text(json_member(from, "user"), &a->room);
  while (json_next(&rest, &key, &value)) {
    if (out->n_tags == TAGS_MAX) return 0;
    m->tags[out->n_tags++] = (hostler_kv){json_text(key, &a->room), json_text(value, &a->room)};
  }
  out->tags = m->tags;
  /* Whose it is comes back from the tags: hostler trusts nothing else. */
  out->set_id = tag(m, "hostler-set");
  out->owner = tag(m, "hostler-owner");
  const struct json state = json_member(from, "state");
  out->state = json_is(state, "running")   ? HOSTLER_STATE_RUNNING
               : json_is(state, "booting") ? HOSTLER_STATE_PENDING
               : json_is(state, "failed")  ? HOSTLER_STATE_FAILED
                                           : HOSTLER_STATE_UNKNOWN;
  const int64_t port = json_number(json_member(from, "port"));
  const int64_t created = json_number(json_member(from, "created_ms"));
  m->address.text = json_text(json_member(from, "address"), &a->room);
  m->address.scope = HOSTLER_ADDRESS_PRIVATE;
  out->addresses = &m->address;
  out->n_addresses = m->address.text.len != 0;
  out->ssh_port = port > 0 && port <= 65535 ? (uint32_t)port : 0;
  out->created_unix_ns = created > 0 ? created * 1000000 : 0;
  return out->id.len != 0;
}

static hostler_status emit(hostler_op* op, const struct machine* m) {
  if (op->emit(op, (const hostler_rec*)&m->record) == 0) return HOSTLER_OK;
  return fail(op, HOSTLER_E_CANCELLED, "stopped by the host");
}

static void add_tags(struct text* to, const hostler_kv* tags, size_t n) {
  text_put(to, ",\"tags\":{");
  for (size_t i = 0; i < n; ++i) {
    if (i != 0) text_put(to, ",");
    text_quote(to, tags[i].key);
    text_put(to, ":");
    text_quote(to, tags[i].value);
  }
  text_put(to, "}");
}

/* ---- the functions of the table, in the order of driver.h -------------------------------------
 */

static hostler_status set_open(const hostler_host* h, const hostler_set_config* c, hostler_op* op,
                               hostler_set** out) {
  (void)h;
  if (c->flags != 0) return no_flags(op, c->flags);
  hostler_set* const set = calloc(1, sizeof *set);
  if (set == NULL) return fail(op, HOSTLER_E_INTERNAL, "out of memory");
  hostler_status status = cloud_settings(&set->cloud, c, op);
  if (status == HOSTLER_OK) { /* wrong credentials show now, not at the first machine */
    struct text request = {0};
    struct answer answer;
    text_put(&request, "{\"op\":\"info\"");
    status = cloud_ask(&set->cloud, op, &request, &answer);
    answer_free(&answer);
  }
  if (status == HOSTLER_OK)
    *out = set;
  else
    free(set);
  return status;
}

static void set_close(hostler_set* s) { free(s); }

static hostler_status set_info(hostler_set* s, const hostler_set_info_req* r, hostler_op* op) {
  if (r->flags != 0) return no_flags(op, r->flags);
  hostler_set_info out = {.struct_size = sizeof out, .kind = HOSTLER_REC_SET_INFO};
  out.account_id = (hostler_str){s->cloud.host, strlen(s->cloud.host)};
  out.capabilities =
      HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_HOST_KEY_INJECT | HOSTLER_CAP_USER_DATA;
  out.list_consistency_ms = 1; /* at once; 0 would mean that nobody knows */
  out.user_data_max_bytes = 256 * 1024;
  out.tags_max = 64;
  out.tag_key_max = 128;
  out.tag_value_max = 255;
  if (op->emit(op, (const hostler_rec*)&out) == 0) return HOSTLER_OK;
  return fail(op, HOSTLER_E_CANCELLED, "stopped by the host");
}

static hostler_status create(hostler_set* s, const hostler_create_req* r, hostler_op* op) {
  hostler_status status = refuse_wishes(r, op);
  if (status != HOSTLER_OK) return status;
  struct text request = {0};
  struct answer answer;
  struct machine machine;
  text_put(&request, "{\"op\":\"create\",\"key\":");
  text_quote(&request, r->idempotency_key);
  text_put(&request, ",\"authorized_keys\":[");
  for (size_t i = 0; i < r->n_ssh_public_keys; ++i) {
    if (i != 0) text_put(&request, ",");
    text_quote(&request, r->ssh_public_keys[i]);
  }
  text_put(&request, "]");
  if (r->ssh_host_key_private.len != 0) {
    text_put(&request, ",\"host_key\":");
    text_quote(&request, r->ssh_host_key_private);
  }
  if (r->user_data != NULL && r->user_data->n_bytes != 0) {
    text_put(&request, ",\"user_data\":");
    text_quote(&request, (hostler_str){(const char*)r->user_data->bytes, r->user_data->n_bytes});
  }
  add_tags(&request, r->tags, r->n_tags);
  status = cloud_ask(&s->cloud, op, &request, &answer);
  if (status == HOSTLER_OK) {
    if (read_machine(json_member(answer.value, "machine"), &answer, &machine)) {
      status = emit(op, &machine);
    } else {
      op->error->flags |= HOSTLER_EF_OUTCOME_UNKNOWN;
      status = fail(op, HOSTLER_E_TRANSIENT, "%s", kNoMachine);
    }
  }
  answer_free(&answer);
  return status;
}

static int is_wanted(const struct machine* m, const hostler_list_req* r) {
  int wanted = r->n_ids == 0;
  for (size_t i = 0; i < r->n_ids; ++i) wanted |= same(r->ids[i], m->record.id);
  for (size_t i = 0; i < r->n_tag_filter; ++i) {
    int has = 0;
    for (size_t k = 0; k < m->record.n_tags; ++k)
      has |= same(m->tags[k].key, r->tag_filter[i].key) &&
             same(m->tags[k].value, r->tag_filter[i].value);
    wanted &= has;
  }
  return wanted;
}

static hostler_status list(hostler_set* s, const hostler_list_req* r, hostler_op* op) {
  if (r->flags != 0) return no_flags(op, r->flags);
  struct text request = {0};
  struct answer answer;
  struct machine machine;
  text_put(&request, "{\"op\":\"list\"");
  hostler_status status = cloud_ask(&s->cloud, op, &request, &answer);
  struct json rest = {NULL, NULL}, name, one;
  if (status == HOSTLER_OK) rest = json_member(answer.value, "machines");
  /* A list is complete or an error: what is not understood is not left out. */
  if (status == HOSTLER_OK && (rest.at == NULL || *rest.at != '['))
    status = fail(op, HOSTLER_E_TRANSIENT, "the cloud has sent no list");
  while (status == HOSTLER_OK && json_next(&rest, &name, &one)) {
    if (!read_machine(one, &answer, &machine))
      status = fail(op, HOSTLER_E_TRANSIENT, "%s", kNoMachine);
    else if (is_wanted(&machine, r))
      status = emit(op, &machine);
  }
  answer_free(&answer);
  return status;
}

/* Whether the machine is there, and of this set: OK, NOT_FOUND or CONFLICT. */
static hostler_status look_at(hostler_set* s, hostler_op* op, hostler_str id, hostler_str set_id) {
  struct text request = {0};
  struct answer answer;
  struct machine machine;
  text_put(&request, "{\"op\":\"list\"");
  hostler_status status = cloud_ask(&s->cloud, op, &request, &answer);
  if (status == HOSTLER_OK) {
    struct json rest = json_member(answer.value, "machines"), name, one;
    status = rest.at != NULL && *rest.at == '['
                 ? HOSTLER_E_NOT_FOUND
                 : fail(op, HOSTLER_E_TRANSIENT, "the cloud has sent no list");
    while (status == HOSTLER_E_NOT_FOUND && json_next(&rest, &name, &one)) {
      if (!read_machine(one, &answer, &machine))
        status = fail(op, HOSTLER_E_TRANSIENT, "a machine in the cloud's list cannot be read");
      else if (same(machine.record.id, id))
        status = set_id.len == 0 || same(machine.record.set_id, set_id)
                     ? HOSTLER_OK
                     : fail(op, HOSTLER_E_CONFLICT, "%s is another set's", id.ptr);
    }
  }
  answer_free(&answer);
  return status;
}

static hostler_status destroy(hostler_set* s, const hostler_destroy_req* r, hostler_op* op) {
  if (r->flags != 0) return no_flags(op, r->flags);
  hostler_status status = look_at(s, op, r->id, r->expected_set_id);
  if (status == HOSTLER_OK) {
    struct text request = {0};
    struct answer answer;
    text_put(&request, "{\"op\":\"destroy\",\"id\":");
    text_quote(&request, r->id);
    status = cloud_ask(&s->cloud, op, &request, &answer);
    answer_free(&answer);
  }
  return status == HOSTLER_E_NOT_FOUND ? HOSTLER_OK : status; /* what is not there is destroyed */
}

static hostler_status set_tags(hostler_set* s, const hostler_set_tags_req* r, hostler_op* op) {
  if (r->flags != 0) return no_flags(op, r->flags);
  struct text request = {0};
  struct answer answer;
  text_put(&request, "{\"op\":\"tag\",\"id\":");
  text_quote(&request, r->id);
  add_tags(&request, r->set, r->n_set);
  const hostler_status status = cloud_ask(&s->cloud, op, &request, &answer);
  answer_free(&answer);
  return status;
}

static const void* get_extension(const char* id) {
  (void)id;
  return NULL;
}

static const hostler_driver kDriver = {
    .struct_size = sizeof(hostler_driver),
    .abi_major = HOSTLER_ABI_MAJOR,
    .abi_minor = HOSTLER_ABI_MINOR,
    .abi_draft = HOSTLER_ABI_DRAFT,
    .threading = HOSTLER_THREAD_CONCURRENT,
    .max_concurrency = 16,
    .name = "mycloud",
    .version = "0.1",
    .license = "Apache-2.0",
    .runtime = "c",
    .config_schema_json =
        "{\"type\": \"object\", \"required\": [\"endpoint\"],"
        " \"additionalProperties\": false,"
        " \"properties\": {\"endpoint\": {\"type\": \"string\"}}}",
    .set_open = set_open,
    .set_close = set_close,
    .set_info = set_info,
    .create = create,
    .list = list,
    .destroy = destroy,
    .set_tags = set_tags,
    .get_extension = get_extension,
};

const hostler_driver* hostler_driver_entry_1(const hostler_host* host) {
  return host->abi_major == HOSTLER_ABI_MAJOR ? &kDriver : NULL;
}
