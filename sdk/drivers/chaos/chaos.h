#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hostler/driver.hpp"

#ifndef CHAOS_THREADING
#define CHAOS_NAME "fake_chaos"
#define CHAOS_THREADING HOSTLER_THREAD_CONCURRENT
#endif
#ifndef CHAOS_RUNTIME
#define CHAOS_RUNTIME "cpp"
#endif

/// A driver that misbehaves: the word in its config (`{"do": "hang"}`) selects how. There is one
/// word for each rule that the host checks. Without a word it is a correct cloud in memory.
///
///   chaos.cc       the driver's table, open and close
///   calls.cc       the functions of a set
///   ends.cc        how a call, or the process, ends
///   process.cc     what is done to the process
///   records.cc     records, right and wrong
///   extensions.cc, draft_extensions.cc  extensions
struct hostler_set {
  const hostler_host* host;
  std::string word, id, gate;
  std::mutex mutex;
  std::map<std::string, std::string> instances;  // id -> key
  std::vector<std::thread> threads;
  std::atomic<int> groups{0};   // that it was asked for
  std::string gone;             // the id of the last instance that was destroyed
  hostler_op* ended = nullptr;  // of a create, to be used after its end
};

namespace chaos {

using hostler::driver::str;
using hostler::driver::view;

/// Counts the calls that are in this library at once; a serial driver has one at most.
struct Counted {
  Counted();
  ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

hostler_status set_info(hostler_set* s, const hostler_set_info_req* r, hostler_op* op);
hostler_status create(hostler_set* s, const hostler_create_req* r, hostler_op* op);
hostler_status list(hostler_set* s, const hostler_list_req* r, hostler_op* op);
hostler_status destroy(hostler_set* s, const hostler_destroy_req* r, hostler_op* op);
hostler_status set_tags(hostler_set* s, const hostler_set_tags_req* r, hostler_op* op);
/// Null: the driver has no such extension.
const void* extension(std::string_view id);
/// Of those that may still change, and of power where CHAOS_POWER is defined.
const void* draft_extension(std::string_view id);

// ---- records
/// A record that points into its arguments, which must outlive it.
hostler_instance made(const std::string& id, const std::string& key);
void emit(hostler_op* op, const hostler_instance& record);
hostler_status emit_then(hostler_op* op, const std::string& id, const std::string& key,
                         hostler_status status);
/// Emits a wrong or unusual record, if the word asks for one.
bool emit_wrong(const std::string& word, hostler_op* op, const std::string& id,
                const std::string& key);
/// Emits more than anybody takes, if the word asks for it.
bool emit_too_much(const std::string& word, hostler_op* op);

// ---- ends
hostler_status fails(hostler_op* op, hostler_status status, std::string_view message);
/// Waits until somebody opens the pipe of this name for writing.
void wait_at_gate(const std::string& path);
hostler_status wait_for_cancel(hostler_op* op);
/// Ends an operation in the way that the word asks for. PENDING if it asks for none of these.
hostler_status end_as_told(hostler_set* s, hostler_op* op, const std::string& id,
                           const std::string& key);
/// Uses an operation that is over, or a set that is none, if the word asks for it.
void use_ended(const hostler_set& s);
/// Logs when the calling thread ends: the set that it closes is gone then.
void log_at_end_of_thread(const hostler_host* host);
/// Ends the process in the way that the word asks for; returns if it asks for none.
void end_process(const std::string& word);
/// What the word asks for in this call: "segv in list", "throw in list", "hang in list".
void begin(const std::string& word, const std::string& gate, const char* call);

// ---- process
/// At the open: changes what is the whole process's, or leaves threads, if the word asks for it.
/// `gate` ends what lives on.
void change_process(const std::string& word, const std::string& gate);
/// In a create: forks, leaks, writes, closes, if the word asks for it.
void harm_process(const std::string& word, const std::string& gate);
/// Writes to hostler's socket that its process has just started, for 8 seconds.
void say_hello_again();

}  // namespace chaos
