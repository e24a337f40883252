/* hostler/driver.h - the cloud driver ABI, major version 1. This header is the specification.
 *
 * A driver is a shared library that exports one function, hostler_driver_entry_1(), and through it
 * one static table, hostler_driver. The host (the dispatcher, or a child process that it runs for
 * one set) calls the table; the driver answers through the callbacks of hostler_op. A driver needs
 * this header and nothing else of hostler; hostler/driver.hpp is a C++ layer over it.
 *
 * THE LAWS
 *  1  Only fixed-width integers, size_t, double and pointers cross this line: no bool, enum type,
 *     bit-field, long, time_t, va_list, FILE, struct by value, C++ type.
 *  2  GROWABLE structs begin with struct_size, which the writer sets to its own sizeof. They go by
 *     pointer only, are never embedded nor put in arrays by value, and grow at the end only. A
 *     field newer than 1.0 is read through HOSTLER_HAS and not otherwise. FROZEN structs never
 *     change. Words named reserved are written as zero and not read.
 *  3  Memory is BORROWED for the duration of the call it is passed to, and the receiver copies what
 *     it keeps. Nobody frees memory of the other side. The exceptions: a hostler_set is the
 *     driver's until set_close; static tables and hostler_host live as long as the process; a
 *     hostler_op lives until its function has returned AND the operation is complete.
 *  4  No exception, panic or longjmp leaves a function, on either side.
 *  5  Text is UTF-8 without embedded NUL. Host to driver it is also NUL-terminated (ptr[len] is 0);
 *     driver to host, pointer and length are enough. Length 0 with a NULL pointer is legal both
 *     ways and means "none". An array of length 0 may be NULL too.
 *  6  What the DRIVER sends and the host does not know is survived: an unknown negative status is
 *     read as INTERNAL, an unknown state as UNKNOWN, an unknown value of another enumeration as its
 *     0; unknown flag bits, record kinds and text fields are ignored. An unknown bit of an error's
 *     scope narrows the error to the request's own type, zone, market and function.
 *     What a REQUEST says and the driver does not know, or cannot do, is refused: an unknown flag
 *     bit or value of an enumeration, in the request and in what it points to, is answered
 *     UNSUPPORTED before anything is done, with a message that names it. It is never read as 0:
 *     a host that asks for spot must not get a machine on demand. The same holds for a field
 *     that asks for something: a driver without placement groups refuses a create that names one.
 *     An empty text, a 0 and an array of length 0 ask for nothing. The host sends no flag, value
 *     or function that is newer than the abi_minor of the driver's table. A field that is newer may
 *     be there, and is not read; where it must not be overlooked a new flag comes with it.
 *  7  Wall times are nanoseconds since 1970 (0 = not known); deadlines are nanoseconds of
 *     CLOCK_MONOTONIC; durations are milliseconds. Money is an integer: millionths of the set's
 *     currency, per hour.
 *  8  Credentials, user data and private keys are SECRET. They appear in no log, error, tag,
 *     record, metric, argv, environment or file that others can read.
 *  9  Each of these is 1 to 63 characters of [a-z0-9_-], so that it fits where clouds allow least:
 *     set_id, idempotency_key (36 of them), host_instance_id, owner (32), names of types, and keys
 *     and values of the host's own tags, "hostler-*". Tags of the site have keys of up to 127
 *     characters of [A-Za-z0-9_.:/-], and values of one line of up to 255 bytes, maybe empty. A
 *     driver changes no tag: what its cloud cannot keep is INVALID, or its set_info forbids it.
 *
 * THREADS. Each function has one of these tags:
 *  [any]   from any thread, at any time, several at once. Never blocks for long.
 *  [call]  from a thread of the host, with no lock of the host held. At most as many at once as
 *          `threading` and `max_concurrency` allow, set_open included. May block until the
 *          deadline of its op.
 *  [pure]  like [any], and besides: no I/O, and the same answer each time.
 * The host never uses pthread_cancel on a thread that runs driver code. The driver blocks all
 * signals in threads of its own, makes them after set_open was called, and has joined them when
 * set_close returns.
 *
 * CALLS. A function that takes an op either
 *   returns a status <= 0: it is finished, and everything has been emitted (synchronous), or
 *   returns HOSTLER_PENDING: the driver calls op->complete() exactly once, from any thread, maybe
 *     before the function has returned. What it needs of the request it has copied by then.
 * PENDING is legal where the function's comment says so. A status other than PENDING returned
 * after complete() was called breaks the rules; then the status of complete() counts.
 * A status below 0 goes with op->error filled first: at least HOSTLER_TEXT_MESSAGE. After the end
 * of the operation the driver does not touch op, op->error or the request.
 * A driver gives up by the deadline and within 2 s of a cancel. The host waits a grace time longer,
 * then treats the call as ended with its outcome unknown, and the driver as sick.
 *
 * SETS. A set is one configured connection to one account or region, in the order: set_open, any
 * number of other calls, set_close. Two sets of one process share nothing that they can notice.
 * Two sets with the same set_id may be open at once, in one process or in two: while a call hangs
 * in the first one, or while credentials are renewed. A process may end without set_close. So what
 * must outlive a set is kept in the cloud, and what two sets may both change is guarded there.
 * There is no global initialisation and no unloading.
 *
 * MACHINES. What hostler expects of a machine and does there is specified in sdk/machine.md: who
 * logs in, what user data does, which files are whose, and which host key is replaced.
 *
 * DRAFT. This header is a draft until drivers for several real clouds have been written against it:
 * host and driver must agree on HOSTLER_ABI_DRAFT exactly, and the host says so when they do not.
 * Until a release has it, a draft may change without a new number: build a driver with the header
 * of the same hostler. With 1.0 the macro goes, and what is here then stays for ever. */
#ifndef HOSTLER_DRIVER_H
#define HOSTLER_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#define HOSTLER_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

#define HOSTLER_ABI_MAJOR 1u
#define HOSTLER_ABI_MINOR 0u
#define HOSTLER_ABI_DRAFT 4u

/* May p->field be read? The only legal way to reach a field that is newer than 1.0. */
#define HOSTLER_HAS(p, T, field) \
  ((p)->struct_size >= offsetof(T, field) + sizeof(((const T*)0)->field))

/* ---- status ---------------------------------------------------------------------------------- */

typedef int32_t hostler_status;
#define HOSTLER_OK 0               /* finished; every result has been emitted */
#define HOSTLER_PENDING 1          /* op->complete() will be called exactly once */
#define HOSTLER_E_INTERNAL (-1)    /* a bug of the driver */
#define HOSTLER_E_INVALID (-2)     /* bad argument or configuration */
#define HOSTLER_E_UNSUPPORTED (-3) /* this driver or this account cannot do it */
#define HOSTLER_E_NOT_FOUND (-4)   /* no such instance; destroy of one is OK, not this */
#define HOSTLER_E_CONFLICT (-5)    /* key known with other arguments; foreign instance */
#define HOSTLER_E_AUTH (-6)        /* credentials bad or expired: calls pause, up to 10 minutes */
#define HOSTLER_E_RATE_LIMIT (-7)  /* no call in `scope` until retry_after_ms have passed */
#define HOSTLER_E_QUOTA (-8) /* account limit: no create in `scope` until a destroy, or a while */
#define HOSTLER_E_CAPACITY (-9)   /* the provider has no stock in `scope`: another type or zone */
#define HOSTLER_E_TRANSIENT (-10) /* network, 5xx: retried with back-off and the same key */
#define HOSTLER_E_TIMEOUT (-11)   /* like TRANSIENT; the deadline passed */
#define HOSTLER_E_CANCELLED (-12) /* given up because the host asked for it */
#define HOSTLER_E_KEY_MISMATCH (-13) /* host-key extension only: that is not the instance's key */
/* After a create has ended with INVALID, UNSUPPORTED, CONFLICT or NOT_FOUND, the host sends no
 * create in `scope` for about a minute, later for up to 30 minutes, or until the site's
 * configuration is read again: somebody may repair it, here or in the cloud. The next create has a
 * new key. */

/* hostler_error.scope: what the refusal is about, as narrow as the driver knows.
 * Several bits mean all of them together: TYPE and ZONE are "this type in this zone". MARKET alone
 * is "no spot at all". 0 means "not said". Then the host takes
 *   for CAPACITY, UNSUPPORTED, INVALID, CONFLICT and NOT_FOUND of a create:
 *                 the type, zone and market of the request;
 *   for QUOTA:    its quota group, or its type if that has no group;
 *   for INTERNAL: this function;
 *   for others:   the whole set.
 * OPERATION alone is read as 0, but limited to this function.
 * A call that is about no type, such as list, destroy or set_tags, can be narrowed by OPERATION
 * only. Other bits have no effect there: RATE_LIMIT of a list with TYPE alone is about the whole
 * set.
 *
 * What is held back: after RATE_LIMIT and AUTH every function, or with OPERATION this one. AUTH
 * holds back only the refused function if a create does not need it: set_tags, and those of
 * extensions except start and stop. set_open, quota groups, host keys and consoles are not held
 * back. A refused set_open is repeated after a minute at most, but not before retry_after_ms; host
 * keys and consoles are asked for again at the next connection to the host. After another refusal
 * of a create, creates; after QUOTA and CAPACITY also starts. CAPACITY, UNSUPPORTED, INVALID,
 * CONFLICT and NOT_FOUND hold back only the market of the request. */
#define HOSTLER_SCOPE_TYPE 0x01u
#define HOSTLER_SCOPE_GROUP 0x02u /* quota group */
#define HOSTLER_SCOPE_ZONE 0x04u
#define HOSTLER_SCOPE_REGION 0x08u    /* a set has one region: the whole set */
#define HOSTLER_SCOPE_ACCOUNT 0x10u   /* the whole set */
#define HOSTLER_SCOPE_MARKET 0x20u    /* the request's market only */
#define HOSTLER_SCOPE_OPERATION 0x40u /* this function only, the others may go on */
#define HOSTLER_SCOPE_SUBNET 0x80u
#define HOSTLER_SCOPE_IMAGE 0x100u

/* hostler_error.flags */
/* The effect may have happened, for the request may have left this machine: the host lists before
 * it tries again. */
#define HOSTLER_EF_OUTCOME_UNKNOWN 0x01u

/* Fields of hostler_error.set_text. The scope texts name the group, zone, subnet or image of a
 * scope bit. A text is needed only where the request left the choice to the driver: name what you
 * chose. The host then holds back requests of the same type, zone and market that name the same, or
 * that leave the choice to the driver too. A text that contradicts the request is ignored. */
#define HOSTLER_TEXT_MESSAGE 1u       /* one line for people: what failed, what to do */
#define HOSTLER_TEXT_PROVIDER_CODE 2u /* the provider's own error code, verbatim */
#define HOSTLER_TEXT_REQUEST_ID 3u    /* the provider's id of the failed request, for its support */
#define HOSTLER_TEXT_SCOPE_GROUP 4u
#define HOSTLER_TEXT_SCOPE_ZONE 5u
#define HOSTLER_TEXT_SCOPE_SUBNET 6u
#define HOSTLER_TEXT_SCOPE_IMAGE 7u

/* ---- enumerations and flags that several structs share --------------------------------------- */

/* Market of a type, an instance, a price. */
#define HOSTLER_MARKET_ANY 0u /* not said; of a type or a create: on demand */
#define HOSTLER_MARKET_ON_DEMAND 1u
#define HOSTLER_MARKET_SPOT 2u

/* hostler_instance.state. The host connects as soon as there is an address, in PENDING too. */
#define HOSTLER_STATE_UNKNOWN 0u
#define HOSTLER_STATE_REQUESTED 1u /* a request that is not fulfilled yet: there is no machine */
#define HOSTLER_STATE_PENDING 2u   /* the machine is being made or started */
#define HOSTLER_STATE_RUNNING 3u   /* powered on; says nothing about SSH */
#define HOSTLER_STATE_STOPPING 4u
#define HOSTLER_STATE_STOPPED 5u   /* switched off and kept; must be listed */
#define HOSTLER_STATE_SUSPENDED 6u /* as STOPPED, and its memory is kept */
#define HOSTLER_STATE_TERMINATING 7u
#define HOSTLER_STATE_GONE 8u   /* may be listed for a while; counts as absent */
#define HOSTLER_STATE_FAILED 9u /* will never run; the host destroys it */

/* hostler_instance.flags */
#define HOSTLER_INSTANCE_TAGS_UNKNOWN 0x01u /* the provider did not say the tags in this answer */

/* hostler_address.scope */
#define HOSTLER_ADDRESS_PRIVATE 1u
#define HOSTLER_ADDRESS_PUBLIC 2u

/* hostler_user_data.format and .flags */
#define HOSTLER_USER_DATA_SH 1u        /* a script that begins with #! */
#define HOSTLER_USER_DATA_MIME 2u      /* parts for cloud-init, see HOSTLER_CAP_USER_DATA_MIME */
#define HOSTLER_USER_DATA_SECRET 0x01u /* use a protected channel if there is one */
/* `bytes` is compressed (RFC 1952), and handed on as it is; `format` says what is inside. */
#define HOSTLER_USER_DATA_GZIP 0x02u

/* hostler_disk */
#define HOSTLER_DISK_ROOT 1u
#define HOSTLER_DISK_SCRATCH 2u

/* hostler_create_req */
#define HOSTLER_TENANCY_DEFAULT 0u
#define HOSTLER_TENANCY_DEDICATED 1u
#define HOSTLER_TENANCY_HOST 2u
#define HOSTLER_PUBLIC_IP_DEFAULT 0u /* as the subnet says */
#define HOSTLER_PUBLIC_IP_YES 1u
#define HOSTLER_PUBLIC_IP_NO 2u

/* hostler_set_info.capabilities */
#define HOSTLER_CAP_CREATE_TOKEN_NATIVE 0x01u /* the cloud itself keeps creates idempotent */
#define HOSTLER_CAP_HOST_KEY_INJECT 0x02u     /* ssh_host_key_* is in place before sshd starts */
#define HOSTLER_CAP_USER_DATA 0x04u           /* scripts are run; without it none is sent */
#define HOSTLER_CAP_SPOT 0x08u                /* without it no create for spot is sent */
#define HOSTLER_CAP_STOP 0x10u                /* hostler.power/1 works on this account */
/* User data may come compressed. The host compresses it only if it is longer than
 * user_data_max_bytes otherwise. */
#define HOSTLER_CAP_USER_DATA_GZIP 0x20u
/* Machines follow user data of the format MIME, as cloud-init does: a message of the type
 * multipart/mixed with parts of the types text/cloud-config and text/x-shellscript. Without it none
 * is sent. */
#define HOSTLER_CAP_USER_DATA_MIME 0x40u

/* hostler_log_line.level */
#define HOSTLER_LOG_TRACE 0u
#define HOSTLER_LOG_DEBUG 1u
#define HOSTLER_LOG_INFO 2u
#define HOSTLER_LOG_WARNING 3u
#define HOSTLER_LOG_ERROR 4u

/* hostler_driver.threading */
#define HOSTLER_THREAD_SERIAL_DRIVER 0u /* the host makes one call at a time into this library */
#define HOSTLER_THREAD_SERIAL_SET 1u    /* one call at a time on each set */
#define HOSTLER_THREAD_CONCURRENT 2u    /* up to max_concurrency calls at once on each set */

/* ---- types ----------------------------------------------------------------------------------- */

typedef struct hostler_str { /* frozen */
  const char* ptr;
  size_t len;
} hostler_str;
/* Initializer from a string literal: hostler_str s = HOSTLER_STR("x"); */
#define HOSTLER_STR(literal) \
  { (literal), sizeof(literal) - 1 }

typedef struct hostler_kv { /* frozen */
  hostler_str key, value;
} hostler_kv;

typedef struct hostler_address { /* frozen */
  uint32_t scope;                /* HOSTLER_ADDRESS_*, 0 = not known */
  uint32_t reserved0;
  hostler_str text; /* "192.0.2.7", "2001:db8::7", "host.example" */
} hostler_address;

typedef struct hostler_rec { /* frozen: the first 8 bytes of every record */
  uint32_t struct_size;
  uint32_t kind; /* HOSTLER_REC_* */
} hostler_rec;

typedef struct hostler_set hostler_set; /* opaque, the driver's */
typedef struct hostler_op hostler_op;
typedef struct hostler_error hostler_error;
typedef struct hostler_host hostler_host;

/* Describes a failure; the status alone says which one. Made and freed by the host,
 * filled in by the driver before it returns or completes with a negative status. The host has set
 * retry_after_ms, quota_limit and quota_used to -1 and the rest to 0. */
struct hostler_error { /* growable */
  uint32_t struct_size;
  uint32_t scope; /* HOSTLER_SCOPE_* */
  uint32_t flags; /* HOSTLER_EF_* */
  uint32_t reserved0;
  int64_t retry_after_ms; /* from now, of any status; -1 = the provider did not say. More than a day
                             counts as a day */
  int64_t quota_limit;    /* with QUOTA, in the provider's unit; -1 = not known */
  int64_t quota_used;     /* the same, as the provider says it: also where only a limit is known,
                             the driver counts nothing itself */
  /* Sets text `field` (HOSTLER_TEXT_*) to a copy of s[0..n); again replaces it. The host cuts what
   * is longer than 4 KiB and replaces control characters.
   * [any] while the op is not complete, but not two at once. Does not block, cannot fail. */
  void (*set_text)(hostler_error* e, uint32_t field, const char* s, size_t n);
};

/* One operation: deadline, cancel, results, end. One for each call, made and freed by the host. */
struct hostler_op { /* growable */
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t deadline_mono_ns; /* CLOCK_MONOTONIC; 0 = none. The driver has given up by then */
  hostler_error* error;      /* never NULL */
  /* Not 0 once the host no longer wants the result: cancelled, or past the deadline.
   * [any] Does not block. */
  int32_t (*is_cancelled)(const hostler_op* op);
  /* Registers fn(arg), to be called once the operation is cancelled: at most once, on a thread of
   * the host's own, or at once inside this call if it is cancelled already. One registration at a
   * time: another replaces it.
   * on_cancel(op, NULL, NULL) removes it. If fn is running on another thread, the call waits until
   * fn has returned. Call it before what `arg` points to is destroyed, and before a function
   * returns a status other than PENDING. complete() does it too.
   * fn does not block: it sets a flag, signals a condition or an eventfd, or breaks off the
   * transfer. It does not call complete() while it holds a lock that the driver's worker needs.
   * [any] Blocks only as said. */
  void (*on_cancel)(hostler_op* op, void (*fn)(void* arg), void* arg);
  /* Delivers one record, a growable struct that begins with hostler_rec; the host copies it before
   * this returns. Emits of one op are serialised by the driver. Records per op and bytes per record
   * have limits, see hostler_host; what passes them ends the op.
   * Returns 0 to go on; else the driver stops, and ends the op with CANCELLED.
   * [any] Does not block for long. */
  int32_t (*emit)(hostler_op* op, const hostler_rec* rec);
  /* Ends an operation whose function returns HOSTLER_PENDING. Exactly once; the op is gone when it
   * returns, unless the function is still running. `st` is not PENDING.
   * [any] Waits for a running on_cancel function (not if it is called from inside it). */
  void (*complete)(hostler_op* op, hostler_status st);
};

/* A line of log. The host adds driver, set and call, and the time. */
typedef struct hostler_log_line { /* growable */
  uint32_t struct_size;
  uint32_t level;         /* HOSTLER_LOG_* */
  const hostler_set* set; /* what it is about, before set_close has returned; NULL = the set of
                             `op`, or none */
  const hostler_op* op;   /* the call that it is about, before its end; NULL = none */
  hostler_str message;    /* one line, for people */
} hostler_log_line;

/* What the host offers to drivers. Static: lives until the process ends, one for all sets.
 * The first 16 bytes of this struct and of hostler_driver stay as they are in every draft. */
struct hostler_host { /* growable */
  uint32_t struct_size, abi_major, abi_minor, abi_draft;
  const char* name;          /* "hostler" in the daemon and its children; others: their name */
  const char* version;       /* of the host program */
  uint64_t records_max;      /* per op */
  uint64_t record_bytes_max; /* per record, strings and arrays included */
  /* Writes one line to the host's log. Drivers write nothing to stdout or stderr.
   * Limited in rate and length by the host; what is cut is counted.
   * [any] from set_open to the end of set_close. Does not block. */
  void (*log)(const hostler_host* h, const hostler_log_line* line);
  /* A feature of the host by its id (HOSTLER_EXT_HOST_*), or NULL. The table is static.
   * [pure] */
  const void* (*get_extension)(const hostler_host* h, const char* id);
};

/* ---- records --------------------------------------------------------------------------------- */

#define HOSTLER_REC_INSTANCE 1u
#define HOSTLER_REC_PRICE 2u
#define HOSTLER_REC_SET_INFO 3u
#define HOSTLER_REC_IMAGE 4u
#define HOSTLER_REC_OFFERING 5u
#define HOSTLER_REC_INTERRUPTION 6u
#define HOSTLER_REC_CONSOLE 7u
#define HOSTLER_REC_LEFTOVER 8u
#define HOSTLER_REC_QUOTA_GROUP 9u

/* One machine, or one request for one, as the cloud shows it now. Texts have at most 255 bytes,
 * except state_reason, state_error and tags. 0 is "not known"; for the price it is -1. */
typedef struct hostler_instance { /* growable record */
  uint32_t struct_size, kind;     /* HOSTLER_REC_INSTANCE */
  hostler_str id;                 /* the cloud's; never empty, unique within the account: one that
                                     is gone does not leave its id to another one */
  hostler_str request_id;         /* the id it had as a spot request, when `id` is the machine's */
  hostler_str idempotency_key;    /* echoed: the key of its create; empty only if not ours */
  hostler_str set_id, owner;      /* echoed: its tags hostler-set and hostler-owner */
  hostler_str remote_user;        /* who logs in by SSH; empty = as configured */
  hostler_str zone;
  hostler_str state_reason;         /* why it is in this state, the provider's words */
  hostler_str state_error;          /* why it died or cannot run, when nobody asked for its end:
                                       the provider's code and words; empty = no error */
  const hostler_address* addresses; /* the best one first: the host takes the first, or the first of
                                       the scope that the site asks for; none while there is none */
  size_t n_addresses;
  const hostler_kv* tags; /* all of them. The host reads hostler-pool, -type, -idle, -epoch here */
  size_t n_tags;
  int64_t created_unix_ns;           /* when it was asked for */
  int64_t interruption_unix_ns;      /* when the provider will take it back; 0 = no notice */
  int64_t price_micros_per_hour;     /* what it costs now; 0 = nothing; -1 = not known */
  uint32_t state;                    /* HOSTLER_STATE_* */
  uint32_t flags;                    /* HOSTLER_INSTANCE_* */
  uint32_t market;                   /* HOSTLER_MARKET_* */
  uint32_t ssh_port;                 /* 0 = 22 */
  hostler_status state_error_status; /* what a create would have answered for state_error: CAPACITY
                                        and QUOTA hold back creates as if it had; 0 = not said */
  uint32_t state_error_scope;        /* its scope, as hostler_error.scope; ZONE is `zone` above */
} hostler_instance;

/* What this account allows, found out by the driver: limits differ between accounts. The host keeps
 * them: a create that would pass one fails before it is sent. A limit of 0 is not said. account_id
 * and region have at most 255 bytes. */
typedef struct hostler_set_info { /* growable record */
  uint32_t struct_size, kind;     /* HOSTLER_REC_SET_INFO */
  hostler_str account_id;         /* equal for two sets on one account; never empty */
  hostler_str region;
  hostler_str currency;          /* ISO 4217, "USD"; empty = no prices */
  uint64_t capabilities;         /* HOSTLER_CAP_* */
  uint64_t list_consistency_ms;  /* a change shows in list() after at most this time, measured from
                                    the answer to the call that made it; 0 = not known */
  uint64_t list_interval_min_ms; /* list() of the whole set no more often than that; more than 10
                                    minutes counts as 10. Lists of some ids come in between */
  uint64_t user_data_max_bytes;  /* as given to the driver, compressed or not, before any encoding
                                    of the driver's own */
  uint32_t max_concurrency;      /* blocking calls at once in this account, at most the driver's;
                                    0 = the driver's */
  uint32_t tags_max;             /* of a create; what the driver adds is not counted */
  uint32_t tag_key_max, tag_value_max, name_max; /* bytes */
  uint32_t reserved0;
} hostler_set_info;

/* ---- requests -------------------------------------------------------------------------------- */

typedef struct hostler_instance_type { /* growable */
  uint32_t struct_size;
  uint32_t flags;
  hostler_str name;                 /* on the site's menu */
  hostler_str provider_type;        /* what the provider calls it */
  hostler_str provider_params_json; /* an object, what only this driver understands: the site's
                                       `types[].provider_params`; in a create with the pool's
                                       members in place of those of the same name */
  uint64_t ram_bytes;
  uint64_t scratch_bytes;        /* disk space for jobs, as configured */
  int64_t price_micros_per_hour; /* as configured; -1 = not known */
  uint32_t vcpus, gpus;
  uint32_t market; /* HOSTLER_MARKET_* */
  uint32_t reserved0;
} hostler_instance_type;

typedef struct hostler_set_config { /* growable; the request of set_open */
  uint32_t struct_size, flags;
  hostler_str set_id;            /* the value of the tag hostler-set of everything it makes */
  hostler_str config_json;       /* an object, as config_schema_json describes it */
  hostler_str credentials_json;  /* SECRET; an object, or empty */
  const hostler_kv* shared_tags; /* put on everything that this set makes */
  size_t n_shared_tags;
} hostler_set_config;

typedef struct hostler_set_info_req { /* growable */
  uint32_t struct_size, flags;
} hostler_set_info_req;

typedef struct hostler_user_data { /* growable */
  uint32_t struct_size;
  uint32_t format; /* HOSTLER_USER_DATA_* */
  uint32_t flags;  /* HOSTLER_USER_DATA_SECRET, _GZIP */
  uint32_t reserved0;
  const uint8_t* bytes; /* SECRET; may hold NUL */
  size_t n_bytes;
} hostler_user_data;

typedef struct hostler_disk { /* growable; each disk is deleted with its instance */
  uint32_t struct_size;
  uint32_t role;    /* HOSTLER_DISK_ROOT, _SCRATCH */
  hostler_str kind; /* what the provider calls it; empty = the driver's choice */
  uint64_t bytes;   /* of a root disk 0 = as the image says */
  uint64_t iops;    /* 0 = the driver's choice */
  uint64_t throughput_bytes_per_s;
  uint32_t flags; /* none yet: 0 */
  uint32_t reserved0;
} hostler_disk;

typedef struct hostler_create_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str idempotency_key;  /* same key = same instance, even after a crash of either side */
  hostler_str host_instance_id; /* the host's own id for it, "h-...", for names and logs */
  hostler_str owner;            /* the value of the tag hostler-owner */
  const hostler_instance_type* type; /* never NULL */
  hostler_str region, zone;          /* empty = the driver's choice */
  hostler_str subnet;    /* one; empty = the driver's choice. Where the site has several, the host
                            chooses. It tries another one, with a new key, only after a definite
                            refusal. After OUTCOME_UNKNOWN it lists, and repeats the same request */
  hostler_str image_id;  /* empty = as the driver's own config says */
  hostler_str name_hint; /* for people, [a-z0-9_-], at most name_max (63, if that is not said); the
                            driver may change it, and it need not be unique */
  const hostler_user_data* user_data; /* SECRET; all that sets the machine up, see sdk/machine.md;
                                         NULL where the set has no HOSTLER_CAP_USER_DATA */
  hostler_str ssh_host_key_private;   /* SECRET; OpenSSH PEM; placed before sshd starts. Empty, and
                                         the next too, without HOSTLER_CAP_HOST_KEY_INJECT */
  hostler_str ssh_host_key_public;    /* one line "ssh-ed25519 AAAA..." */
  const hostler_str* ssh_public_keys; /* allowed to log in; lines of authorized_keys */
  size_t n_ssh_public_keys;
  const hostler_kv* tags; /* all of them, the set's shared_tags and hostler-key too; put on at
                             create, also on what is made beside the instance and may outlive it */
  size_t n_tags;
  const hostler_disk* const* disks; /* n_disks pointers, none NULL */
  size_t n_disks;
  const hostler_str*
      security_groups; /* of the provider, ids or names; none = the driver's choice */
  size_t n_security_groups;
  const hostler_str* profiles; /* of the provider, sets of settings (LXD), a later one over an
                                  earlier one; none = the driver's choice */
  size_t n_profiles;
  hostler_str placement_group, capacity_reservation, identity_profile;
  int64_t price_cap_micros_per_hour; /* never pay more; 0 = no cap, and always if the market is not
                                        SPOT */
  uint32_t market;                   /* HOSTLER_MARKET_*; equal to the type's */
  uint32_t tenancy;                  /* HOSTLER_TENANCY_* */
  uint32_t public_ip;                /* HOSTLER_PUBLIC_IP_* */
  uint32_t reserved0;
  hostler_str remote_user; /* who will log in with ssh_public_keys; empty = the driver's choice.
                              Make this user, or leave it to the image where that brings its users.
                              UNSUPPORTED if it is known that this user cannot log in */
} hostler_create_req;

typedef struct hostler_list_req { /* growable */
  uint32_t struct_size, flags;
  const hostler_str* ids; /* only these; none = all. For the id of a spot request that has become a
                             machine, the driver emits the machine, with that id as request_id */
  size_t n_ids;
  const hostler_kv* tag_filter; /* exact matches, all of them, and beside `ids` */
  size_t n_tag_filter;
} hostler_list_req;

typedef struct hostler_destroy_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str id; /* never empty: the host destroys only what a create or a list has shown */
  hostler_str idempotency_key; /* of its create; empty = not known */
  hostler_str expected_set_id; /* CONFLICT if it carries another; empty = do not check */
} hostler_destroy_req;

typedef struct hostler_set_tags_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str id;
  const hostler_kv* set; /* these get their new values, the other tags stay */
  size_t n_set;
} hostler_set_tags_req;

/* ---- the driver ------------------------------------------------------------------------------ */

/* The driver's table: static, const, the same each time. Fields up to the mark are there in every
 * driver; functions that are marked optional, and whatever comes after the mark, may be NULL.
 * Every function below that takes an op may end with INTERNAL, INVALID, AUTH, RATE_LIMIT,
 * TRANSIENT, TIMEOUT or CANCELLED, and by law 6 with UNSUPPORTED; what else it may end with is said
 * there. */
typedef struct hostler_driver {                          /* growable */
  uint32_t struct_size, abi_major, abi_minor, abi_draft; /* as compiled: HOSTLER_ABI_* */
  uint32_t min_host_minor;                               /* an older host refuses it; normally 0 */
  uint32_t threading;                                    /* HOSTLER_THREAD_* */
  uint32_t max_concurrency; /* blocking calls at once per set, 1 to 1024; 1 if serial. The host may
                               make fewer. Calls that are PENDING do not count */
  uint32_t flags;           /* none yet: 0 */
  const char* name;         /* [a-z0-9_-]{1,63}; equal to the manifest's; never NULL */
  /* These texts may be NULL: not said. */
  const char* version;
  const char* vendor;
  const char* license;            /* SPDX, "Apache-2.0" */
  const char* runtime;            /* "c", "cpp", "rust", "go", ... */
  const char* config_schema_json; /* JSON Schema of config_json: the keywords of draft 7, and $defs;
                                     NULL: any object */

  /* Opens a set: checks config_json against the schema, and makes one cheap authenticated call, so
   * that AUTH and INVALID show now and not at the first burst. INVALID names the field.
   * On OK, *out is the set, the driver's until set_close; else *out is not read.
   * [call] Blocks until the deadline. Never PENDING. Emits nothing.
   * Ends with: also UNSUPPORTED. */
  hostler_status (*set_open)(const hostler_host* h, const hostler_set_config* c, hostler_op* op,
                             hostler_set** out);
  /* Closes a set and frees it. Every op has ended before. When it returns, no thread of the driver
   * touches the host, an op or the set any more. Instances stay as they are.
   * [call] Blocks until quiet: 5 s at most. Cannot fail. */
  void (*set_close)(hostler_set* s);
  /* Emits one HOSTLER_REC_SET_INFO: limits and abilities of this account as they are now. Asked
   * when the host begins to use the set, and again when the site's configuration is read again. Not
   * asked on a schedule, nor in a process that replaces one that has crashed or hangs.
   * [call] Blocks until the deadline. May be PENDING. */
  hostler_status (*set_info)(hostler_set* s, const hostler_set_info_req* r, hostler_op* op);
  /* Makes one instance, or finds the one that this idempotency key made before, and emits it.
   * The record goes out AS SOON AS the provider has returned an id, before any waiting; a second
   * record with the same id updates it. OK means accepted, not running. Everything emitted in one
   * create has one id. A retry is byte for byte the first request. Where the cloud has no client
   * token, the driver keeps the key in the tag hostler-key and lists first. If the key's instance
   * is gone already, it is emitted with state GONE, and none is made.
   * A failure after which the request may have left this machine has HOSTLER_EF_OUTCOME_UNKNOWN.
   * The host then lists. If the set has CREATE_TOKEN_NATIVE and a list shows the instance as
   * PENDING, the host repeats such a create, and the driver goes on where it was.
   * [call] Blocks until the deadline. May be PENDING.
   * Ends with: also UNSUPPORTED, CONFLICT (known key, other arguments), NOT_FOUND (an image or the
   * like), QUOTA, CAPACITY. */
  hostler_status (*create)(hostler_set* s, const hostler_create_req* r, hostler_op* op);
  /* Emits every instance and unfulfilled request of the account and region that matches the
   * filters, stopped and failed ones too, each once: what two pages show goes out once, as the
   * later one says. An id that is asked for and not there is left out.
   *
   * OK says that the list is COMPLETE: whatever existed when the call began, and was made or
   * changed at least list_consistency_ms before, has been emitted. Anything less is an error, and
   * then the host uses none of the records: a page that failed, was cut or could not be read; a
   * token that expired between pages; a record that the driver does not understand. An empty page
   * does not end a list: only the provider's own mark of the last page does. A list without records
   * is believed as well, so it is OK only if the provider has said that there is nothing; an empty
   * body, a missing field or a redirect is TRANSIENT.
   *
   * The host counts an instance as absent when two complete lists do not show it, and then a list
   * of its id does not show it either (if the driver can list by id). The two lists are
   * list_consistency_ms apart; where that is 0, 60 s, or after a destroy any time. GONE counts as
   * absent. If a list suddenly lacks many, the host first asks for them by their ids.
   *
   * [call] Blocks until the deadline. May be PENDING.
   * Ends with: also UNSUPPORTED, for `ids` only: the host asks for none again. */
  hostler_status (*list)(hostler_set* s, const hostler_list_req* r, hostler_op* op);
  /* Asks for the end of one instance, with all that was made for it. Withdraws a spot request, and
   * ends the machine that it may have become. OK means accepted, or that there is no such instance
   * any more; only list() says it is gone.
   * [call] Blocks until the deadline. May be PENDING. Emits nothing.
   * Ends with: also CONFLICT (another set's). */
  hostler_status (*destroy)(hostler_set* s, const hostler_destroy_req* r, hostler_op* op);
  /* Sets some tags of one instance. Not atomic: after an error it is repeated as a whole.
   * [call] Blocks until the deadline. May be PENDING. Emits nothing.
   * Ends with: also NOT_FOUND, UNSUPPORTED, QUOTA (too many tags). */
  hostler_status (*set_tags)(hostler_set* s, const hostler_set_tags_req* r, hostler_op* op);
  /* A feature by its id, or NULL; the table is static.
   * [pure] */
  const void* (*get_extension)(const char* id);
  /* ---- end of 1.0. What is appended below is optional: NULL or absent means unsupported. ---- */
} hostler_driver;

/* The one symbol that a driver exports. Returns its table, or NULL if host->abi_major is not
 * HOSTLER_ABI_MAJOR. Starts no thread, opens no file, registers nothing; always the same pointer.
 * [pure] */
HOSTLER_EXPORT const hostler_driver* hostler_driver_entry_1(const hostler_host* host);
#define HOSTLER_DRIVER_ENTRY "hostler_driver_entry_1"
typedef const hostler_driver* (*hostler_driver_entry_1_fn)(const hostler_host* host);

/* ---- extensions of the host -------------------------------------------------------------------
 * Found by host->get_extension(h, id). A host may lack them. */

/* The driver's own files: those that its manifest names beside its library, checked and opened by
 * the host. What a driver starts or reads of its own it takes from here, not by a path, where
 * another file may stand by then. */
#define HOSTLER_EXT_HOST_FILES "hostler.host.files/1"
/* The site allows no program of the driver's own that the manifest does not name. */
#define HOSTLER_HOST_FILES_ONLY 0x1u
typedef struct hostler_ext_host_files { /* growable */
  uint32_t struct_size, flags;          /* HOSTLER_HOST_FILES_* */
  /* The descriptor of the open file with this name, or -1 if the manifest has none. It is the
   * host's: close-on-exec, not to be closed, open until the process ends. fexecve() starts it.
   * Libraries among them (names with .so) are loaded already.
   * [pure] */
  int32_t (*descriptor)(const hostler_host* h, const char* name);
} hostler_ext_host_files;

/* ---- extensions of a driver -------------------------------------------------------------------
 * Found by driver->get_extension(id). An id is "name/rev", third parties use "com.example.thing/1".
 * A table may grow at its end; any other change is a new rev, and the old one is served for at
 * least five years. What is said above on ops, errors and threads holds here too. */

/* Does the cloud vouch for this SSH host key? OK: the key is the instance's. */
#define HOSTLER_EXT_HOST_KEY "hostler.host-key/1"
typedef struct hostler_verify_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str id;          /* of the instance */
  hostler_str key_algo;    /* "ssh-ed25519" */
  const uint8_t* key_blob; /* the public key in SSH wire form */
  size_t n_key_blob;
} hostler_verify_req;
typedef struct hostler_ext_host_key { /* growable */
  uint32_t struct_size, reserved0;
  /* [call] Blocks until the deadline. May be PENDING. Emits nothing.
   * Ends with: also KEY_MISMATCH; TRANSIENT while the cloud does not know the key yet; UNSUPPORTED
   * (the host goes on to the pool's other methods); NOT_FOUND. */
  hostler_status (*verify)(hostler_set* s, const hostler_verify_req* r, hostler_op* op);
} hostler_ext_host_key;

/* What instances of a type have cost. */
#define HOSTLER_EXT_PRICE_HISTORY "hostler.price-history/1"
typedef struct hostler_price { /* growable record: the price from start_unix_ns on */
  uint32_t struct_size, kind;  /* HOSTLER_REC_PRICE */
  hostler_str zone;            /* at most 63 bytes; empty = every zone */
  int64_t start_unix_ns;
  int64_t price_micros_per_hour;
  uint32_t market; /* HOSTLER_MARKET_* */
  uint32_t reserved0;
} hostler_price;
typedef struct hostler_price_req { /* growable */
  uint32_t struct_size, flags;
  const hostler_instance_type* type; /* never NULL */
  int64_t since_unix_ns;
  uint32_t market; /* HOSTLER_MARKET_ANY = all */
  uint32_t reserved0;
} hostler_price_req;
typedef struct hostler_ext_price_history { /* growable */
  uint32_t struct_size, reserved0;
  /* Emits a HOSTLER_REC_PRICE for each change after since_unix_ns, and for each zone and market the
   * one in force at that time; in any order.
   * [call] Blocks until the deadline. May be PENDING. Ends with: also UNSUPPORTED. */
  hostler_status (*history)(hostler_set* s, const hostler_price_req* r, hostler_op* op);
} hostler_ext_price_history;

/* Types that share one quota of the account share a group. */
#define HOSTLER_EXT_QUOTA_GROUP "hostler.quota-group/1"
typedef struct hostler_quota_group { /* growable record */
  uint32_t struct_size, kind;        /* HOSTLER_REC_QUOTA_GROUP */
  hostler_str name;                  /* the same for all types of the group, at most 63 bytes;
                                        empty = no group */
} hostler_quota_group;
typedef struct hostler_quota_group_req { /* growable */
  uint32_t struct_size, flags;
  const hostler_instance_type* type; /* never NULL */
  uint32_t market;                   /* HOSTLER_MARKET_* */
  uint32_t reserved0;
} hostler_quota_group_req;
typedef struct hostler_ext_quota_group { /* growable */
  uint32_t struct_size, reserved0;
  /* Emits one HOSTLER_REC_QUOTA_GROUP, or nothing: no group. The answer stays the same while the
   * set is open, and needs no request to the provider where the driver knows the groups by itself.
   * [call] Blocks until the deadline. May be PENDING. Ends with: also UNSUPPORTED. */
  hostler_status (*group)(hostler_set* s, const hostler_quota_group_req* r, hostler_op* op);
} hostler_ext_quota_group;

/* Switch an instance off and on without giving it up. OK means accepted; list() shows the state. */
#define HOSTLER_EXT_POWER "hostler.power/1"
typedef struct hostler_power_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str id;
  hostler_str expected_set_id; /* CONFLICT if it carries another; empty = do not check */
} hostler_power_req;
typedef struct hostler_ext_power { /* growable */
  uint32_t struct_size, reserved0;
  /* start also resumes an instance in HOSTLER_STATE_SUSPENDED. The host suspends no instance, but
   * somebody else may. OK if the instance is on (start) or off (stop) already.
   * [call] Block until the deadline. May be PENDING. Emit nothing.
   * Ends with: also NOT_FOUND, CONFLICT, UNSUPPORTED; start: QUOTA, CAPACITY. */
  hostler_status (*start)(hostler_set* s, const hostler_power_req* r, hostler_op* op);
  hostler_status (*stop)(hostler_set* s, const hostler_power_req* r, hostler_op* op);
} hostler_ext_power;

/* ---- draft extensions: these may still change until 1.0 -------------------------------------- */

/* Which types the cloud offers: in which zones and markets, and at which price. */
#define HOSTLER_EXT_OFFERINGS "hostler.offerings/1"
#define HOSTLER_AVAILABLE_UNKNOWN 0u
#define HOSTLER_AVAILABLE_YES 1u
#define HOSTLER_AVAILABLE_NO 2u
/* Equal gpus of a type. Accelerators of other kinds are none. */
typedef struct hostler_gpu_group { /* frozen */
  hostler_str kind;      /* 1 to 63 characters of [a-z0-9._-], as the tool of its maker names it,
                            without the maker: "a100-sxm4-40gb"; empty = not known */
  uint64_t memory_bytes; /* of each; 0 = not known */
  uint32_t count;
  uint32_t reserved0;
} hostler_gpu_group;
typedef struct hostler_offering {          /* growable record */
  uint32_t struct_size, kind;              /* HOSTLER_REC_OFFERING */
  hostler_str provider_type, region, zone; /* no zone: all of them */
  hostler_str architecture;                /* as `uname -m` says it: "x86_64", "aarch64" */
  int64_t price_micros_per_hour;           /* -1 = not known */
  uint64_t ram_bytes;
  uint64_t scratch_bytes; /* disks that come with the type, without any that is asked for */
  uint32_t vcpus, gpus;
  uint32_t market;    /* HOSTLER_MARKET_* */
  uint32_t available; /* HOSTLER_AVAILABLE_* */
  /* At most 8, no two of one kind and memory; their counts together are `gpus`. None: it is not
   * said which gpus these are. */
  const hostler_gpu_group* gpu_groups;
  size_t n_gpu_groups;
} hostler_offering;
typedef struct hostler_offerings_req { /* growable */
  uint32_t struct_size, flags;
  const hostler_str* provider_types; /* exact names; none = all */
  size_t n_provider_types;
  uint32_t market; /* HOSTLER_MARKET_ANY = all */
  uint32_t reserved0;
} hostler_offerings_req;
typedef struct hostler_ext_offerings { /* growable */
  uint32_t struct_size, reserved0;
  /* Emits a HOSTLER_REC_OFFERING for each type in each zone and market; sizes that are not known
   * are 0, and then the host does not choose by them.
   * [call] Blocks until the deadline. May be PENDING. Ends with: also UNSUPPORTED. */
  hostler_status (*offerings)(hostler_set* s, const hostler_offerings_req* r, hostler_op* op);
} hostler_ext_offerings;

/* Notices that the provider will take instances back. */
#define HOSTLER_EXT_INTERRUPTION "hostler.interruption/1"
#define HOSTLER_INTERRUPTION_NOT_SAID 0u  /* counts as TERMINATE */
#define HOSTLER_INTERRUPTION_TERMINATE 1u /* the instance will be gone */
#define HOSTLER_INTERRUPTION_STOP 2u      /* it will be switched off and kept */
#define HOSTLER_INTERRUPTION_SUSPEND 3u   /* its memory is kept too */
#define HOSTLER_INTERRUPTION_RESTART 4u   /* it will boot again, e.g. for maintenance */
#define HOSTLER_INTERRUPTION_WITHDRAWN 5u /* the earlier notice is cancelled */
typedef struct hostler_interruption {     /* growable record */
  uint32_t struct_size, kind;             /* HOSTLER_REC_INTERRUPTION */
  hostler_str instance_id;
  hostler_str text;             /* the provider's words */
  int64_t interruption_unix_ns; /* when it happens; 0 = soon, or WITHDRAWN */
  uint32_t action;              /* HOSTLER_INTERRUPTION_* */
  uint32_t reserved0;
} hostler_interruption;
typedef struct hostler_interruption_req { /* growable */
  uint32_t struct_size, flags;
} hostler_interruption_req;
typedef struct hostler_ext_interruption { /* growable */
  uint32_t struct_size, reserved0;
  /* Emits notices as they come, first all that hold at present, until the deadline or a cancel;
   * then OK, and not before: a watch that cannot go on ends with an error. A later notice of the
   * same instance replaces the one before.
   * [call] Does not block for long: it would take the place of other calls for ever. PENDING, or
   * an error; OK only through complete(). Ends with: also UNSUPPORTED. */
  hostler_status (*watch)(hostler_set* s, const hostler_interruption_req* r, hostler_op* op);
} hostler_ext_interruption;

/* The boot text of an instance, for diagnosis and for the host keys printed there. */
#define HOSTLER_EXT_CONSOLE "hostler.console/1"
typedef struct hostler_console { /* growable record: a piece of it, in order */
  uint32_t struct_size, kind;    /* HOSTLER_REC_CONSOLE */
  uint64_t offset;               /* of the first byte in the whole */
  const uint8_t* bytes;          /* as the machine wrote them */
  size_t n_bytes;
  int64_t
      as_of_unix_ns; /* when the cloud took this text, which may be minutes old; 0 = not known */
} hostler_console;
typedef struct hostler_console_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str id;
  uint64_t offset;    /* the first byte that the host wants, if the provider can begin there */
  uint64_t bytes_max; /* of the text from there on, only the last bytes_max bytes; 0 = all */
} hostler_console_req;
typedef struct hostler_ext_console { /* growable */
  uint32_t struct_size, reserved0;
  /* Emits the text in pieces (HOSTLER_REC_CONSOLE), in the order of their offsets. No piece means
   * that the cloud has no text yet. The host asks in two cases. Before it destroys an instance that
   * did not come up, it asks for the last 4 KiB and waits at most 10 s. While a new instance boots,
   * it looks for the host keys here, if the driver has no HOSTLER_EXT_HOST_KEY or verify() says
   * UNSUPPORTED: every 5 s to 60 s, in at most 256 KiB that begin at offset 0 and lack no piece.
   * [call] Blocks until the deadline. May be PENDING. Ends with: also NOT_FOUND, UNSUPPORTED. */
  hostler_status (*read)(hostler_set* s, const hostler_console_req* r, hostler_op* op);
} hostler_ext_console;

/* Things with the set's tag that outlived their instance: network cards, disks, addresses. */
#define HOSTLER_EXT_LEFTOVERS "hostler.leftovers/1"
typedef struct hostler_leftover { /* growable record */
  uint32_t struct_size, kind;     /* HOSTLER_REC_LEFTOVER */
  hostler_str type;               /* what the provider calls it: "network-interface" */
  hostler_str id;
  hostler_str instance_id; /* the instance that it belonged to; may be empty */
  const hostler_kv* tags;
  size_t n_tags;
  int64_t created_unix_ns;
} hostler_leftover;
typedef struct hostler_leftover_list_req { /* growable */
  uint32_t struct_size, flags;
  const hostler_kv* tag_filter;
  size_t n_tag_filter;
} hostler_leftover_list_req;
typedef struct hostler_leftover_destroy_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str type, id;
  hostler_str expected_set_id; /* CONFLICT if it carries another */
} hostler_leftover_destroy_req;
typedef struct hostler_ext_leftovers { /* growable */
  uint32_t struct_size, reserved0;
  /* list is complete or an error, as that of instances is. destroy of what is not there is OK.
   * [call] Block until the deadline. May be PENDING. Ends with: also UNSUPPORTED, CONFLICT. */
  hostler_status (*list)(hostler_set* s, const hostler_leftover_list_req* r, hostler_op* op);
  hostler_status (*destroy)(hostler_set* s, const hostler_leftover_destroy_req* r, hostler_op* op);
} hostler_ext_leftovers;

/* Images that instances can be made of, by what a site knows of them. */
#define HOSTLER_EXT_IMAGES "hostler.images/1"
typedef struct hostler_image { /* growable record */
  uint32_t struct_size, kind;  /* HOSTLER_REC_IMAGE */
  hostler_str id;              /* never empty; as in hostler_create_req.image_id */
  hostler_str name;
  hostler_str owner;        /* the provider's name of the account or server that it comes from */
  hostler_str architecture; /* as in hostler_offering */
  int64_t created_unix_ns;  /* of several that match the host takes the newest; 0 = not known */
} hostler_image;
typedef struct hostler_images_req { /* growable */
  uint32_t struct_size, flags;
  hostler_str name;          /* `*` stands for any text, nothing else is special; empty = any */
  hostler_str owner;         /* empty = the driver's choice of those that can be trusted */
  hostler_str architecture;  /* empty = any */
  const hostler_kv* filters; /* exact matches, all of them; keys as the provider has them. INVALID
                                if it has no such key */
  size_t n_filters;
} hostler_images_req;
typedef struct hostler_ext_images { /* growable */
  uint32_t struct_size, reserved0;
  /* Emits a HOSTLER_REC_IMAGE for each image that matches and can be used; nothing: none does.
   * [call] Blocks until the deadline. May be PENDING. Ends with: also UNSUPPORTED. */
  hostler_status (*find)(hostler_set* s, const hostler_images_req* r, hostler_op* op);
} hostler_ext_images;

#ifdef __cplusplus
}
#endif
#endif
