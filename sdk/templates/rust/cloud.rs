//! REPLACE THIS: the client of your cloud. Here it is that of `hostler-hosts`, machines for tests: a
//! request is a line of JSON on a TCP connection, and so is the answer.

use crate::abi;
use crate::json::Json;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::raw::{c_int, c_long};
use std::time::Duration;

const ANSWER_MAX: usize = 1 << 28;
const STEP: Duration = Duration::from_millis(100);
const CONNECT_MAX: Duration = Duration::from_millis(1500); // a cancel is noticed within 2 s

/// Why a call failed.
pub struct Failure {
    pub status: abi::Status,
    pub message: String,
    pub code: String,
    pub outcome_unknown: bool,
    pub scope: u32,          // abi::SCOPE_*
    pub retry_after_ms: i64, // -1: the cloud does not say
}

impl Failure {
    /// The same where the request may have been carried out.
    pub fn with_unknown_outcome(self) -> Failure {
        Failure {
            outcome_unknown: true,
            ..self
        }
    }
}

pub fn failure(status: abi::Status, message: impl Into<String>) -> Failure {
    Failure {
        status,
        message: message.into(),
        code: String::new(),
        outcome_unknown: false,
        scope: 0,
        retry_after_ms: -1,
    }
}

pub struct Cloud {
    pub host: String,
    port: u16,
    token: String, // SECRET
}

/// The one text member of the object. Errors name the member, and show no credential.
fn only_member(what: &str, json: &str, name: &str) -> Result<String, Failure> {
    let invalid = |why: String| Err(failure(abi::INVALID, why));
    let members = match Json::read(json) {
        Some(Json::Object(members)) => members,
        _ => return invalid(format!("{} must be a JSON object", what)),
    };
    if let Some((key, _)) = members.iter().find(|(key, _)| key != name) {
        return invalid(format!(
            "{}: {:.100?} is unknown; needed: {}",
            what, key, name
        ));
    }
    match members.last() {
        Some((_, Json::Text(text))) if !text.is_empty() && text.len() < 256 => Ok(text.clone()),
        _ => invalid(format!(
            "{}.{} must be a text of 1 to 255 bytes",
            what, name
        )),
    }
}

impl Cloud {
    /// Reads "endpoint" of the config and "token" of the credentials.
    pub fn new(config: &str, credentials: &str) -> Result<Cloud, Failure> {
        let endpoint = only_member("config", config, "endpoint")?;
        let token = only_member("credentials", credentials, "token")?;
        match endpoint
            .rsplit_once(':')
            .map(|(host, port)| (host, port.parse::<u16>()))
        {
            Some((host, Ok(port))) if !host.is_empty() && port != 0 => Ok(Cloud {
                host: host.into(),
                port,
                token,
            }),
            _ => Err(failure(
                abi::INVALID,
                "config.endpoint must be ADDRESS:PORT, such as 127.0.0.1:4000",
            )),
        }
    }

    /// Sends {"op": what, members} with the token, and waits for the answer until the deadline or a
    /// cancel of `op`. `members` is empty, or begins with a comma. A refusal is a failure.
    pub fn ask(&self, op: &abi::Op, what: &str, members: &str) -> Result<Json, Failure> {
        go_on(op)?;
        let mut stream = self.connect(op)?;
        let request = format!(
            "{{\"op\":{},\"token\":{}{}}}\n",
            Json::quote(what),
            Json::quote(&self.token),
            members
        );
        let line = exchange(op, &mut stream, request.as_bytes())
            // From the first byte on the request may have been carried out.
            .map_err(Failure::with_unknown_outcome)?;
        understand(&line)
    }

    fn connect(&self, op: &abi::Op) -> Result<TcpStream, Failure> {
        let lost = |e: std::io::Error| {
            failure(
                abi::TRANSIENT,
                format!("connect to {}:{}: {}", self.host, self.port, e),
            )
        };
        let address = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(lost)?
            .next();
        let address = address
            .ok_or_else(|| failure(abi::TRANSIENT, format!("{} has no address", self.host)))?;
        let time = CONNECT_MAX.min(time_left(op)).max(Duration::from_millis(1));
        let stream = TcpStream::connect_timeout(&address, time).map_err(lost)?;
        stream.set_read_timeout(Some(STEP)).map_err(lost)?;
        stream.set_write_timeout(Some(STEP)).map_err(lost)?;
        Ok(stream)
    }
}

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}
extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

/// Until the deadline, which is a time of CLOCK_MONOTONIC.
fn time_left(op: &abi::Op) -> Duration {
    const CLOCK_MONOTONIC: c_int = 1;
    if op.deadline_mono_ns == 0 {
        return Duration::MAX;
    }
    let mut now = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut now) };
    let now = now.seconds as u64 * 1_000_000_000 + now.nanoseconds as u64;
    Duration::from_nanos(op.deadline_mono_ns.saturating_sub(now))
}

fn go_on(op: &abi::Op) -> Result<(), Failure> {
    if time_left(op) == Duration::ZERO {
        return Err(failure(abi::TIMEOUT, "the cloud did not answer in time"));
    }
    if unsafe { (op.is_cancelled)(op) } != 0 {
        return Err(failure(abi::CANCELLED, "cancelled by the host"));
    }
    Ok(())
}

fn is_pause(e: &std::io::Error) -> bool {
    matches!(
        e.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn exchange(op: &abi::Op, stream: &mut TcpStream, mut request: &[u8]) -> Result<Vec<u8>, Failure> {
    let lost = |what: &str| {
        failure(
            abi::TRANSIENT,
            format!("the connection to the cloud: {}", what),
        )
    };
    while !request.is_empty() {
        go_on(op)?;
        match stream.write(request) {
            Ok(n) => request = &request[n..],
            Err(e) if is_pause(&e) => {}
            Err(e) => return Err(lost(&e.to_string())),
        }
    }
    let (mut out, mut bytes) = (Vec::new(), [0u8; 16384]);
    while out.last() != Some(&b'\n') {
        go_on(op)?;
        match stream.read(&mut bytes) {
            Ok(0) => return Err(lost("it was closed")),
            Ok(n) => out.extend_from_slice(&bytes[..n]),
            Err(e) if is_pause(&e) => {}
            Err(e) => return Err(lost(&e.to_string())),
        }
        if out.len() > ANSWER_MAX {
            return Err(lost("the answer is too large"));
        }
    }
    Ok(out)
}

fn understand(line: &[u8]) -> Result<Json, Failure> {
    let no_answer = || {
        failure(
            abi::TRANSIENT,
            "the cloud's answer cannot be read: a JSON object with \"ok\" is needed",
        )
        .with_unknown_outcome()
    };
    let answer = std::str::from_utf8(line).ok().and_then(Json::read);
    let answer = answer.ok_or_else(no_answer)?;
    match answer.get("ok").text() {
        "true" => return Ok(answer),
        "false" => {}
        _ => return Err(no_answer()),
    }
    let code = answer.get("error").text();
    let status = match code {
        "unauthorized" => abi::AUTH,
        "invalid" => abi::INVALID,
        "not_found" => abi::NOT_FOUND,
        "conflict" => abi::CONFLICT,
        "limit" => abi::QUOTA,
        _ => abi::TRANSIENT,
    };
    let message = format!("the cloud refused: {}", answer.get("message").text());
    Err(Failure {
        code: code.to_string(),
        ..failure(status, message)
    })
}
