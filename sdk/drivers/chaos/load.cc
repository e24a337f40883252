// Libraries that a host must refuse. Each has one fault, which a FAKE_* macro selects.
#include <unistd.h>

#include <cstdlib>

#include "hostler/driver.h"
#include "segv.h"

namespace {

/// What the loader of the system runs before anybody can look at the library's table.
struct AtLoad {
  AtLoad() {
#if defined(FAKE_SEGV_AT_LOAD)
    segv();
#elif defined(FAKE_EXIT_AT_LOAD)
    std::exit(0);
#elif defined(FAKE_HANG_AT_LOAD)
    while (true) ::pause();
#endif
  }
};
const AtLoad at_load;

hostler_status refuse(hostler_op* op) {
  op->error->set_text(op->error, HOSTLER_TEXT_MESSAGE, "fake", 4);
  return HOSTLER_E_UNSUPPORTED;
}

[[maybe_unused]] const hostler_driver kTable = {
#ifdef FAKE_SHORT_TABLE
    16,
#else
    sizeof(hostler_driver),
#endif
#ifdef FAKE_OTHER_MAJOR
    HOSTLER_ABI_MAJOR + 1,
#else
    HOSTLER_ABI_MAJOR,
#endif
    HOSTLER_ABI_MINOR,
#ifdef FAKE_OTHER_DRAFT
    HOSTLER_ABI_DRAFT + 1,
#elif defined(FAKE_DRAFT_2)  // the first 16 bytes are the same in every draft
    2,
#else
    HOSTLER_ABI_DRAFT,
#endif
    0,
    HOSTLER_THREAD_CONCURRENT,
    1,
    0,
    "fake_loader",
    "0",
    "test",
    "Apache-2.0",
    "cpp",
    "{}",
    [](const hostler_host*, const hostler_set_config*, hostler_op* op, hostler_set**) {
      return refuse(op);
    },
    [](hostler_set*) {},
    [](hostler_set*, const hostler_set_info_req*, hostler_op* op) { return refuse(op); },
#ifdef FAKE_NO_CREATE
    nullptr,
#else
    [](hostler_set*, const hostler_create_req*, hostler_op* op) { return refuse(op); },
#endif
    [](hostler_set*, const hostler_list_req*, hostler_op* op) { return refuse(op); },
    [](hostler_set*, const hostler_destroy_req*, hostler_op* op) { return refuse(op); },
    [](hostler_set*, const hostler_set_tags_req*, hostler_op* op) { return refuse(op); },
    [](const char*) -> const void* {
#ifdef FAKE_THROW_IN_GET_EXTENSION
      throw 1;
#else
      return nullptr;
#endif
    }};

}  // namespace

#ifndef FAKE_NO_ENTRY
extern "C" const hostler_driver* hostler_driver_entry_1(const hostler_host*) {
#if defined(FAKE_SEGV_IN_ENTRY)
  segv();
#endif
#if defined(FAKE_THROW_IN_ENTRY)
  throw 1;
#elif defined(FAKE_NULL)
  return nullptr;
#else
  return &kTable;
#endif
}
#endif
