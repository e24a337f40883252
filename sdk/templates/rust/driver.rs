//! The driver mycloud: what hostler asks for, in the words of the cloud. It keeps nothing in memory
//! but its settings, so calls may come from many threads, and a new process goes on where one ended.

mod abi;
mod cloud;
mod json;

use abi::{Kv, Op, Status, Str};
use cloud::{failure, Cloud, Failure};
use json::Json;
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

type Done = Result<(), Failure>;

/// The barrier: no panic leaves a function. Fills in the error of `op`.
unsafe fn guard(op: *mut Op, body: impl FnOnce(&Op) -> Done) -> Status {
    let done = catch_unwind(AssertUnwindSafe(|| body(&*op))).unwrap_or_else(|_| {
        Err(failure(abi::INTERNAL, "the driver panicked").with_unknown_outcome())
    });
    let failed = match done {
        Ok(()) => return abi::OK,
        Err(failed) => failed,
    };
    let error = (*op).error;
    if failed.outcome_unknown {
        (*error).flags |= abi::OUTCOME_UNKNOWN;
    }
    (*error).scope = failed.scope;
    (*error).retry_after_ms = failed.retry_after_ms;
    for (field, text) in [
        (abi::TEXT_MESSAGE, &failed.message),
        (abi::TEXT_PROVIDER_CODE, &failed.code),
    ] {
        if !text.is_empty() {
            ((*error).set_text)(error, field, text.as_ptr() as *const c_char, text.len());
        }
    }
    failed.status
}

// ---- what cannot be done is refused, never left out (law 6 of driver.h)

fn no_flags(flags: u32) -> Done {
    match flags {
        0 => Ok(()),
        _ => Err(failure(
            abi::UNSUPPORTED,
            format!("flags {} of the request are newer than this driver", flags),
        )),
    }
}

unsafe fn refuse_wishes(r: &abi::CreateReq) -> Done {
    no_flags(r.flags)?;
    let kind = &*r.machine_type;
    no_flags(kind.flags)?;
    if !["", "{}"].contains(&kind.provider_params_json.get()) {
        return Err(failure(
            abi::UNSUPPORTED,
            "provider_params is not for this driver: it knows none",
        ));
    }
    let has_odd_data = !r.user_data.is_null()
        && ((*r.user_data).format > abi::USER_DATA_SH
            || (*r.user_data).flags & !abi::USER_DATA_SECRET != 0);
    let wishes = [
        (
            r.market > abi::MARKET_ON_DEMAND || kind.market > abi::MARKET_ON_DEMAND,
            "spot, or another market",
        ),
        (r.tenancy != 0, "tenancy"),
        (
            r.public_ip == abi::PUBLIC_IP_YES || r.public_ip > abi::PUBLIC_IP_NO,
            "public addresses",
        ),
        (kind.gpus != 0, "GPUs"),
        (r.n_disks != 0, "disks"),
        (r.zone.len != 0 || r.region.len != 0, "zones and regions"),
        (r.subnet.len != 0, "subnets"),
        (r.image_id.len != 0, "images"),
        (r.n_security_groups != 0, "security groups"),
        (r.n_profiles != 0, "profiles"),
        (r.placement_group.len != 0, "placement groups"),
        (r.capacity_reservation.len != 0, "capacity reservations"),
        (r.identity_profile.len != 0, "identity profiles"),
        (r.remote_user.len != 0, "login users to choose from"),
        (has_odd_data, "user data of this form"),
    ];
    match wishes.iter().find(|(is_asked, _)| *is_asked) {
        None => Ok(()),
        Some((_, wish)) => Err(failure(
            abi::UNSUPPORTED,
            format!("this cloud does not have {}", wish),
        )),
    }
}

// ---- machines of the cloud as records

unsafe fn send<Record>(op: &Op, record: &Record) -> Done {
    match (op.emit)(
        op as *const Op as *mut Op,
        record as *const Record as *const c_void,
    ) {
        0 => Ok(()),
        _ => Err(failure(abi::CANCELLED, "stopped by the host")),
    }
}

fn check_machine(machine: &Json) -> Done {
    match (machine.get("tags"), machine.get("id")) {
        (Json::Object(_), Json::Text(id)) if !id.is_empty() => Ok(()),
        _ => Err(failure(
            abi::TRANSIENT,
            "the machine in the cloud's answer has no id or no tags",
        )),
    }
}

fn tags_of(machine: &Json) -> &[(String, Json)] {
    match machine.get("tags") {
        Json::Object(tags) => tags,
        _ => &[],
    }
}

unsafe fn emit(op: &Op, machine: &Json) -> Done {
    let text = |name| Str::of(machine.get(name).text());
    let number = |name| machine.get(name).text().parse::<i64>().unwrap_or(0).max(0);
    let address = abi::Address {
        scope: abi::ADDRESS_PRIVATE,
        reserved0: 0,
        text: text("address"),
    };
    let tags: Vec<Kv> = tags_of(machine)
        .iter()
        .map(|(k, v)| Kv {
            key: Str::of(k),
            value: Str::of(v.text()),
        })
        .collect();
    let mut out: abi::Instance = zeroed();
    out.struct_size = size_of::<abi::Instance>() as u32;
    out.kind = abi::REC_INSTANCE;
    out.id = text("id");
    out.idempotency_key = text("key");
    // Whose it is comes back from the tags: hostler trusts nothing else.
    out.set_id = Str::of(machine.get("tags").get("hostler-set").text());
    out.owner = Str::of(machine.get("tags").get("hostler-owner").text());
    out.remote_user = text("user");
    out.addresses = &address;
    out.n_addresses = (address.text.len != 0) as usize;
    out.tags = tags.as_ptr();
    out.n_tags = tags.len();
    out.created_unix_ns = number("created_ms").saturating_mul(1_000_000);
    out.price_micros_per_hour = -1;
    out.state = match machine.get("state").text() {
        "running" => abi::STATE_RUNNING,
        "booting" => abi::STATE_PENDING,
        "failed" => abi::STATE_FAILED,
        _ => abi::STATE_UNKNOWN,
    };
    out.market = abi::MARKET_ON_DEMAND;
    out.ssh_port = number("port") as u32;
    send(op, &out)
}

unsafe fn is_wanted(machine: &Json, r: &abi::ListReq) -> bool {
    let (ids, filter) = (
        abi::slice(r.ids, r.n_ids),
        abi::slice(r.tag_filter, r.n_tag_filter),
    );
    let id = machine.get("id").text();
    (ids.is_empty() || ids.iter().any(|one| one.get() == id))
        && filter.iter().all(|f| {
            tags_of(machine)
                .iter()
                .any(|(k, v)| k == f.key.get() && v.text() == f.value.get())
        })
}

/// The machines of the cloud. A list is complete or an error: what is not understood is not left out.
fn machines(cloud: &Cloud, op: &Op) -> Result<Vec<Json>, Failure> {
    match cloud.ask(op, "list", "")?.get("machines") {
        Json::Array(machines) => {
            machines.iter().try_for_each(check_machine)?;
            Ok(machines.clone())
        }
        _ => Err(failure(abi::TRANSIENT, "the cloud has sent no list")),
    }
}

unsafe fn with_tags(tags: &[Kv]) -> String {
    let quoted = |t: &Kv| {
        format!(
            "{}:{}",
            Json::quote(t.key.get()),
            Json::quote(t.value.get())
        )
    };
    format!(
        ",\"tags\":{{{}}}",
        tags.iter().map(quoted).collect::<Vec<_>>().join(",")
    )
}

// ---- the functions of the table, in the order of driver.h

unsafe extern "C" fn set_open(
    _: *const abi::Host,
    c: *const abi::SetConfig,
    op: *mut Op,
    out: *mut *mut Cloud,
) -> Status {
    guard(op, |op| {
        no_flags((*c).flags)?;
        let cloud = Cloud::new((*c).config_json.get(), (*c).credentials_json.get())?;
        cloud.ask(op, "info", "")?; // wrong credentials show now, not at the first machine
        *out = Box::into_raw(Box::new(cloud));
        Ok(())
    })
}

unsafe extern "C" fn set_close(cloud: *mut Cloud) {
    drop(Box::from_raw(cloud));
}

unsafe extern "C" fn set_info(cloud: *mut Cloud, r: *const abi::SetInfoReq, op: *mut Op) -> Status {
    guard(op, |op| {
        no_flags((*r).flags)?;
        let mut out: abi::SetInfo = zeroed();
        out.struct_size = size_of::<abi::SetInfo>() as u32;
        out.kind = abi::REC_SET_INFO;
        out.account_id = Str::of(&(*cloud).host);
        out.capabilities =
            abi::CAP_CREATE_TOKEN_NATIVE | abi::CAP_HOST_KEY_INJECT | abi::CAP_USER_DATA;
        out.list_consistency_ms = 1; // at once; 0 would mean that nobody knows
        out.user_data_max_bytes = 256 * 1024;
        out.tags_max = 64;
        out.tag_key_max = 128;
        out.tag_value_max = 255;
        send(op, &out)
    })
}

unsafe extern "C" fn create(cloud: *mut Cloud, r: *const abi::CreateReq, op: *mut Op) -> Status {
    guard(op, |op| {
        let r = &*r;
        refuse_wishes(r)?;
        let keys: Vec<String> = abi::slice(r.ssh_public_keys, r.n_ssh_public_keys)
            .iter()
            .map(|key| Json::quote(key.get()))
            .collect();
        let mut request = format!(
            ",\"key\":{},\"authorized_keys\":[{}]",
            Json::quote(r.idempotency_key.get()),
            keys.join(",")
        );
        if r.ssh_host_key_private.len != 0 {
            request += &format!(
                ",\"host_key\":{}",
                Json::quote(r.ssh_host_key_private.get())
            );
        }
        if !r.user_data.is_null() && (*r.user_data).n_bytes != 0 {
            let script =
                std::str::from_utf8(abi::slice((*r.user_data).bytes, (*r.user_data).n_bytes));
            let script =
                script.map_err(|_| failure(abi::UNSUPPORTED, "user data must be UTF-8"))?;
            request += &format!(",\"user_data\":{}", Json::quote(script));
        }
        let answer = (*cloud).ask(
            op,
            "create",
            &(request + &with_tags(abi::slice(r.tags, r.n_tags))),
        )?;
        let machine = answer.get("machine");
        check_machine(machine).map_err(Failure::with_unknown_outcome)?;
        emit(op, machine)
    })
}

unsafe extern "C" fn list(cloud: *mut Cloud, r: *const abi::ListReq, op: *mut Op) -> Status {
    guard(op, |op| {
        no_flags((*r).flags)?;
        let all = machines(&*cloud, op)?;
        all.iter()
            .filter(|machine| is_wanted(machine, &*r))
            .try_for_each(|machine| emit(op, machine))
    })
}

/// What is not there is destroyed already: OK.
unsafe extern "C" fn destroy(cloud: *mut Cloud, r: *const abi::DestroyReq, op: *mut Op) -> Status {
    guard(op, |op| {
        no_flags((*r).flags)?;
        let (id, set) = ((*r).id.get(), (*r).expected_set_id.get());
        let all = machines(&*cloud, op)?;
        let machine = match all.iter().find(|machine| machine.get("id").text() == id) {
            Some(machine) => machine,
            None => return Ok(()),
        };
        if !set.is_empty() && machine.get("tags").get("hostler-set").text() != set {
            return Err(failure(abi::CONFLICT, format!("{} is another set's", id)));
        }
        (*cloud)
            .ask(op, "destroy", &format!(",\"id\":{}", Json::quote(id)))
            .map(|_| ())
    })
}

unsafe extern "C" fn set_tags(cloud: *mut Cloud, r: *const abi::SetTagsReq, op: *mut Op) -> Status {
    guard(op, |op| {
        no_flags((*r).flags)?;
        let id = format!(",\"id\":{}", Json::quote((*r).id.get()));
        (*cloud)
            .ask(
                op,
                "tag",
                &(id + &with_tags(abi::slice((*r).set, (*r).n_set))),
            )
            .map(|_| ())
    })
}

unsafe extern "C" fn get_extension(_: *const c_char) -> *const c_void {
    std::ptr::null()
}

macro_rules! text {
    ($literal:expr) => {
        concat!($literal, "\0").as_ptr() as *const c_char
    };
}

static DRIVER: abi::Driver<Cloud> = abi::Driver {
    struct_size: size_of::<abi::Driver<Cloud>>() as u32,
    abi_major: abi::ABI_MAJOR,
    abi_minor: abi::ABI_MINOR,
    abi_draft: abi::ABI_DRAFT,
    min_host_minor: 0,
    threading: abi::THREAD_CONCURRENT,
    max_concurrency: 16,
    flags: 0,
    name: text!("mycloud"),
    version: text!("0.1"),
    vendor: std::ptr::null(),
    license: text!("Apache-2.0"),
    runtime: text!("rust"),
    config_schema_json: text!(
        r#"{"type": "object", "required": ["endpoint"], "additionalProperties": false,
            "properties": {"endpoint": {"type": "string"}}}"#
    ),
    set_open,
    set_close,
    set_info,
    create,
    list,
    destroy,
    set_tags,
    get_extension,
};

/// # Safety
/// `host` is that of a host of hostler.
#[no_mangle]
pub unsafe extern "C" fn hostler_driver_entry_1(
    host: *const abi::Host,
) -> *const abi::Driver<Cloud> {
    if (*host).abi_major == abi::ABI_MAJOR {
        &DRIVER
    } else {
        std::ptr::null()
    }
}
