//! What the driver uses of hostler/driver.h, draft 4. driver.h is the specification: the order and
//! the types of all fields are its. Fields that this driver does not read are here too, for their
//! place. When the header's draft changes, hostler refuses the driver until this file follows.
#![allow(dead_code)]

use std::os::raw::{c_char, c_void};

pub const ABI_MAJOR: u32 = 1;
pub const ABI_MINOR: u32 = 0;
pub const ABI_DRAFT: u32 = 4;

pub type Status = i32;
pub const OK: Status = 0;
pub const INTERNAL: Status = -1;
pub const INVALID: Status = -2;
pub const UNSUPPORTED: Status = -3;
pub const NOT_FOUND: Status = -4;
pub const CONFLICT: Status = -5;
pub const AUTH: Status = -6;
pub const RATE_LIMIT: Status = -7;
pub const QUOTA: Status = -8;
pub const CAPACITY: Status = -9;
pub const TRANSIENT: Status = -10;
pub const TIMEOUT: Status = -11;
pub const CANCELLED: Status = -12;

pub const SCOPE_TYPE: u32 = 0x01;
pub const SCOPE_GROUP: u32 = 0x02;
pub const SCOPE_ZONE: u32 = 0x04;
pub const SCOPE_REGION: u32 = 0x08;
pub const SCOPE_ACCOUNT: u32 = 0x10;
pub const SCOPE_MARKET: u32 = 0x20;
pub const SCOPE_OPERATION: u32 = 0x40;
pub const SCOPE_SUBNET: u32 = 0x80;
pub const SCOPE_IMAGE: u32 = 0x100;

pub const OUTCOME_UNKNOWN: u32 = 1;
pub const TEXT_MESSAGE: u32 = 1;
pub const TEXT_PROVIDER_CODE: u32 = 2;
pub const TEXT_REQUEST_ID: u32 = 3;
pub const MARKET_ON_DEMAND: u32 = 1;
pub const MARKET_SPOT: u32 = 2;
pub const STATE_UNKNOWN: u32 = 0;
pub const STATE_REQUESTED: u32 = 1;
pub const STATE_PENDING: u32 = 2;
pub const STATE_RUNNING: u32 = 3;
pub const STATE_STOPPING: u32 = 4;
pub const STATE_STOPPED: u32 = 5;
pub const STATE_TERMINATING: u32 = 7;
pub const STATE_GONE: u32 = 8;
pub const STATE_FAILED: u32 = 9;
pub const ADDRESS_PRIVATE: u32 = 1;
pub const ADDRESS_PUBLIC: u32 = 2;
pub const USER_DATA_SH: u32 = 1;
pub const USER_DATA_SECRET: u32 = 1;
pub const PUBLIC_IP_YES: u32 = 1;
pub const PUBLIC_IP_NO: u32 = 2;
pub const CAP_CREATE_TOKEN_NATIVE: u64 = 1;
pub const CAP_HOST_KEY_INJECT: u64 = 2;
pub const CAP_USER_DATA: u64 = 4;
pub const THREAD_CONCURRENT: u32 = 2;
pub const REC_INSTANCE: u32 = 1;
pub const REC_SET_INFO: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    pub ptr: *const c_char,
    pub len: usize,
}
impl Str {
    pub const NONE: Str = Str {
        ptr: std::ptr::null(),
        len: 0,
    };
    /// Borrowed: the text outlives what it is put into.
    pub fn of(text: &str) -> Str {
        Str {
            ptr: text.as_ptr() as *const c_char,
            len: text.len(),
        }
    }
    /// Of a request, which lives until its function returns.
    pub unsafe fn get<'a>(self) -> &'a str {
        if self.len == 0 {
            return "";
        }
        std::str::from_utf8(std::slice::from_raw_parts(self.ptr as *const u8, self.len))
            .unwrap_or("")
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kv {
    pub key: Str,
    pub value: Str,
}

#[repr(C)]
pub struct Address {
    pub scope: u32,
    pub reserved0: u32,
    pub text: Str,
}

#[repr(C)]
pub struct Error {
    pub struct_size: u32,
    pub scope: u32,
    pub flags: u32,
    pub reserved0: u32,
    pub retry_after_ms: i64,
    pub quota_limit: i64,
    pub quota_used: i64,
    pub set_text: unsafe extern "C" fn(*mut Error, u32, *const c_char, usize),
}

#[repr(C)]
pub struct Op {
    pub struct_size: u32,
    pub reserved0: u32,
    pub deadline_mono_ns: u64,
    pub error: *mut Error,
    pub is_cancelled: unsafe extern "C" fn(*const Op) -> i32,
    pub on_cancel:
        unsafe extern "C" fn(*mut Op, Option<unsafe extern "C" fn(*mut c_void)>, *mut c_void),
    pub emit: unsafe extern "C" fn(*mut Op, *const c_void) -> i32,
    pub complete: unsafe extern "C" fn(*mut Op, Status),
}

#[repr(C)]
pub struct Host {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub abi_draft: u32,
}

#[repr(C)]
pub struct Instance {
    pub struct_size: u32,
    pub kind: u32,
    pub id: Str,
    pub request_id: Str,
    pub idempotency_key: Str,
    pub set_id: Str,
    pub owner: Str,
    pub remote_user: Str,
    pub zone: Str,
    pub state_reason: Str,
    pub state_error: Str,
    pub addresses: *const Address,
    pub n_addresses: usize,
    pub tags: *const Kv,
    pub n_tags: usize,
    pub created_unix_ns: i64,
    pub interruption_unix_ns: i64,
    pub price_micros_per_hour: i64,
    pub state: u32,
    pub flags: u32,
    pub market: u32,
    pub ssh_port: u32,
    pub state_error_status: i32,
    pub state_error_scope: u32,
}

#[repr(C)]
pub struct SetInfo {
    pub struct_size: u32,
    pub kind: u32,
    pub account_id: Str,
    pub region: Str,
    pub currency: Str,
    pub capabilities: u64,
    pub list_consistency_ms: u64,
    pub list_interval_min_ms: u64,
    pub user_data_max_bytes: u64,
    pub max_concurrency: u32,
    pub tags_max: u32,
    pub tag_key_max: u32,
    pub tag_value_max: u32,
    pub name_max: u32,
    pub reserved0: u32,
}

#[repr(C)]
pub struct InstanceType {
    pub struct_size: u32,
    pub flags: u32,
    pub name: Str,
    pub provider_type: Str,
    pub provider_params_json: Str,
    pub ram_bytes: u64,
    pub scratch_bytes: u64,
    pub price_micros_per_hour: i64,
    pub vcpus: u32,
    pub gpus: u32,
    pub market: u32,
    pub reserved0: u32,
}

#[repr(C)]
pub struct SetConfig {
    pub struct_size: u32,
    pub flags: u32,
    pub set_id: Str,
    pub config_json: Str,
    pub credentials_json: Str, // SECRET
    pub shared_tags: *const Kv,
    pub n_shared_tags: usize,
}

#[repr(C)]
pub struct SetInfoReq {
    pub struct_size: u32,
    pub flags: u32,
}

#[repr(C)]
pub struct UserData {
    pub struct_size: u32,
    pub format: u32,
    pub flags: u32,
    pub reserved0: u32,
    pub bytes: *const u8, // SECRET
    pub n_bytes: usize,
}

#[repr(C)]
pub struct CreateReq {
    pub struct_size: u32,
    pub flags: u32,
    pub idempotency_key: Str,
    pub host_instance_id: Str,
    pub owner: Str,
    pub machine_type: *const InstanceType,
    pub region: Str,
    pub zone: Str,
    pub subnet: Str,
    pub image_id: Str,
    pub name_hint: Str,
    pub user_data: *const UserData,
    pub ssh_host_key_private: Str, // SECRET
    pub ssh_host_key_public: Str,
    pub ssh_public_keys: *const Str,
    pub n_ssh_public_keys: usize,
    pub tags: *const Kv,
    pub n_tags: usize,
    pub disks: *const *const c_void,
    pub n_disks: usize,
    pub security_groups: *const Str,
    pub n_security_groups: usize,
    pub profiles: *const Str,
    pub n_profiles: usize,
    pub placement_group: Str,
    pub capacity_reservation: Str,
    pub identity_profile: Str,
    pub price_cap_micros_per_hour: i64,
    pub market: u32,
    pub tenancy: u32,
    pub public_ip: u32,
    pub reserved0: u32,
    pub remote_user: Str,
}

#[repr(C)]
pub struct ListReq {
    pub struct_size: u32,
    pub flags: u32,
    pub ids: *const Str,
    pub n_ids: usize,
    pub tag_filter: *const Kv,
    pub n_tag_filter: usize,
}

#[repr(C)]
pub struct DestroyReq {
    pub struct_size: u32,
    pub flags: u32,
    pub id: Str,
    pub idempotency_key: Str,
    pub expected_set_id: Str,
}

#[repr(C)]
pub struct SetTagsReq {
    pub struct_size: u32,
    pub flags: u32,
    pub id: Str,
    pub set: *const Kv,
    pub n_set: usize,
}

pub type Call<Set, Req> = unsafe extern "C" fn(*mut Set, *const Req, *mut Op) -> Status;

#[repr(C)]
pub struct Driver<Set> {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub abi_draft: u32,
    pub min_host_minor: u32,
    pub threading: u32,
    pub max_concurrency: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub vendor: *const c_char,
    pub license: *const c_char,
    pub runtime: *const c_char,
    pub config_schema_json: *const c_char,
    pub set_open:
        unsafe extern "C" fn(*const Host, *const SetConfig, *mut Op, *mut *mut Set) -> Status,
    pub set_close: unsafe extern "C" fn(*mut Set),
    pub set_info: Call<Set, SetInfoReq>,
    pub create: Call<Set, CreateReq>,
    pub list: Call<Set, ListReq>,
    pub destroy: Call<Set, DestroyReq>,
    pub set_tags: Call<Set, SetTagsReq>,
    pub get_extension: unsafe extern "C" fn(*const c_char) -> *const c_void,
}
unsafe impl<Set> Sync for Driver<Set> {}

/// An array of a request. None of length 0 has a pointer that can be used.
pub unsafe fn slice<'a, T>(ptr: *const T, n: usize) -> &'a [T] {
    if n == 0 {
        return &[];
    }
    std::slice::from_raw_parts(ptr, n)
}
