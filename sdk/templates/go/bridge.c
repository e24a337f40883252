/* The table of the driver. Go exports the functions that it calls, without const. */
#include "_cgo_export.h"

static hostler_status set_open(const hostler_host* h, const hostler_set_config* c, hostler_op* op,
                               hostler_set** out) {
  uintptr_t set = 0;
  (void)h;
  const hostler_status status = goSetOpen((hostler_set_config*)c, op, &set);
  if (status == HOSTLER_OK) *out = (hostler_set*)set; /* a number that only Go understands */
  return status;
}
static void set_close(hostler_set* s) { goSetClose((uintptr_t)s); }
static hostler_status set_info(hostler_set* s, const hostler_set_info_req* r, hostler_op* op) {
  return goSetInfo((uintptr_t)s, (hostler_set_info_req*)r, op);
}
static hostler_status create(hostler_set* s, const hostler_create_req* r, hostler_op* op) {
  return goCreate((uintptr_t)s, (hostler_create_req*)r, op);
}
static hostler_status list(hostler_set* s, const hostler_list_req* r, hostler_op* op) {
  return goList((uintptr_t)s, (hostler_list_req*)r, op);
}
static hostler_status destroy(hostler_set* s, const hostler_destroy_req* r, hostler_op* op) {
  return goDestroy((uintptr_t)s, (hostler_destroy_req*)r, op);
}
static hostler_status set_tags(hostler_set* s, const hostler_set_tags_req* r, hostler_op* op) {
  return goSetTags((uintptr_t)s, (hostler_set_tags_req*)r, op);
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
    .runtime = "go",
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
