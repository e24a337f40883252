#pragma once

#include <array>

namespace chaos {

/// One way to misbehave: a word for the config, or a library of load.cc.
struct Behaviour {
  const char* word;
  const char* rule;  ///< That it breaks; empty: there is none.
  const char* call;  ///< In which it does so; "load": `word` is a library.
  const char* what;  ///< What the driver does.
};

/// All of them. Further: segv, throw and hang in each call, which the tests put together.
inline constexpr Behaviour kBehaviours[]{
    // ---- loading
    {"fake_no_entry", "R1", "load", "exports no entry function"},
    {"fake_segv_at_load", "R2", "load", "crashes while it is loaded"},
    {"fake_exit_at_load", "R2", "load", "calls exit(0) while it is loaded"},
    {"fake_hang_at_load", "R2", "load", "hangs while it is loaded"},
    {"fake_segv_in_entry", "R2", "load", "crashes in its entry function"},
    {"fake_throw_in_entry", "R45", "load", "throws from its entry function"},
    {"fake_null", "R4", "load", "has no table for this major version"},
    {"fake_other_major", "R4", "load", "speaks another major version"},
    {"fake_other_draft", "R5", "load", "speaks the next draft"},
    {"fake_draft_2", "R5", "load", "speaks draft 2"},
    {"fake_short_table", "R15", "load", "has a table of 16 bytes"},
    {"fake_no_create", "R13", "load", "has a table without create"},
    // ---- opening
    {"open_without_set", "R18", "set_open", "returns OK without a set"},
    {"open_pending", "R26", "set_open", "returns PENDING, which is not allowed there"},
    {"info_none", "R34", "set_info", "emits no record of the set"},
    {"info_two", "R34", "set_info", "emits two"},
    {"huge_account", "", "set_info", "has an account_id of 1 MiB"},
    {"lies_about_power", "R14", "stop", "claims CAP_STOP without hostler.power/1"},
    {"lies_about_concurrency", "R35", "set_info", "claims to take 4,000,000,000 calls at once"},
    {"throw_in_get_extension", "R45", "verify", "throws from get_extension"},
    // ---- records
    {"wrong_size", "R15", "create", "a struct_size below that of 1.0"},
    {"no_size", "R15", "create", "a struct_size of 0"},
    {"no_record", "R15", "create", "a record that is a null pointer"},
    {"huge_size", "R15", "create", "a struct_size of 1 MiB"},
    {"null_text", "R19", "create", "a text with a length and no pointer"},
    {"embedded_nul", "R19", "create", "a text with NUL in it"},
    {"not_utf8", "R19", "create", "a text that is not UTF-8"},
    {"bad_tag", "R19", "create", "a tag that is not UTF-8"},
    {"long_id", "", "create", "an id of 256 bytes"},
    {"wrong_port", "R6", "create", "the port 70,000"},
    {"negative_price", "R6", "history", "a price below 0"},
    {"huge_price", "R6", "history", "a price of 9 billion an hour"},
    {"far_future", "R6", "create", "an instance that was asked for in 2262"},
    {"unknown_values", "R9", "create", "a state, flags and a record that nobody knows"},
    {"no_id", "R28", "create", "an instance without an id"},
    {"two_ids", "R28", "create", "two instances in one create"},
    {"nothing", "R28", "create", "returns OK without an instance"},
    {"other_key", "R32", "create", "an instance of another key"},
    {"same_id", "R62", "create", "the id of an earlier instance for one of another key"},
    {"group_two", "R34", "group", "two quota groups"},
    {"group_changes", "R61", "group", "another quota group each time"},
    {"negative_offering", "R6", "offerings", "an offering with a price below -1"},
    {"other_gpus", "R64", "offerings", "groups of more gpus than the offering has"},
    {"bad_gpu_kind", "R64", "offerings", "a kind of gpus with a space in it"},
    {"many_gpu_groups", "R64", "offerings", "1,000 groups of gpus"},
    {"huge_gpu", "R64", "offerings", "a gpu of 2^63 bytes"},
    {"no_gpu_groups", "R19", "offerings", "a number of groups of gpus and no pointer"},
    {"console_backwards", "R6", "console read", "a piece of the console from before the last one"},
    {"leftover_without_id", "R28", "leftovers list", "a leftover without an id"},
    {"leftover_without_type", "R28", "leftovers list", "a leftover of no kind"},
    {"leftover_in_future", "R6", "leftovers list", "a leftover that was made in 2262"},
    {"leftover_of_another_set", "R33", "leftovers list", "a leftover of another set"},
    {"leftover_of_living", "R33", "leftovers list", "a leftover of an instance that lives"},
    {"leftover_untagged", "R63", "leftovers list", "leaves a disk without the tags of its set"},
    {"image_without_id", "R28", "images find", "an image without an id"},
    {"watch_returns", "R26", "watch", "returns OK from a watch, which must be PENDING"},
    {"watch_ends", "R26", "watch", "completes a watch with OK at once"},
    {"huge_name", "", "create", "a record of 100 MB: one text"},
    {"many_tags", "", "create", "90,000 tags"},
    {"huge_tags", "", "create", "a record of 100 MB: a million tags"},
    {"too_many", "", "list", "emits records until it is told to stop"},
    {"million", "R27", "list", "emits a million records, whatever it is told"},
    {"gigabytes", "", "list", "emits records of 200 KiB until it is told to stop"},
    {"two_threads", "R27", "list", "emits from two threads at once"},
    // ---- ends
    {"unknown_status", "R9", "create", "ends with a status that nobody knows"},
    {"positive_status", "R26", "create", "ends with a status above PENDING"},
    {"no_message", "R22", "create", "fails without a message"},
    {"complete_twice", "R26", "create", "completes twice before it returns"},
    {"return_after_complete", "R26", "create", "completes, and returns OK besides"},
    {"complete_after_end", "R26", "create", "completes a call that is long over"},
    {"emit_after_end", "R26", "create", "emits in a call that is long over"},
    {"fail_after_end", "R26", "create", "writes the error of a call that is long over"},
    {"log_after_end", "R26", "create", "logs about a call that is long over"},
    {"log_of_no_set", "R37", "list", "logs about a set that is not open"},
    {"log_after_close", "R37", "set_close", "logs after set_close has returned"},
    {"keep_cancel", "R29", "create", "leaves its cancel function behind"},
    {"hang", "R31", "create", "hangs for ever, and ignores its cancel"},
    {"hang_pending", "R26", "create", "returns PENDING and never completes"},
    {"blocking_cancel", "R30", "create", "hangs in its cancel function"},
    {"ignores_stop", "R27", "list", "ends a list with OK after it was told to stop"},
    // ---- the process
    {"segv_in_thread", "", "create", "crashes in a thread of its own"},
    {"overflow_stack", "", "create", "overflows its stack"},
    {"abort", "R44", "create", "calls abort"},
    {"exit", "R44", "create", "calls exit(0)"},
    {"kill", "", "create", "is killed by the kernel"},
    {"id_then_segv", "R28", "create", "crashes after it has emitted the instance"},
    {"exit in set_close", "R44", "set_close", "calls exit(0) from set_close"},
    {"change_signals", "R44", "set_open", "changes the handlers of signals"},
    {"change_locale", "R44", "set_open", "changes the locale"},
    {"change_directory", "R44", "set_open", "changes the working directory"},
    {"change_environment", "R44", "set_open", "changes the environment"},
    {"clear_environment", "R44", "set_open", "removes the whole environment"},
    {"change_umask", "R44", "set_open", "changes the umask"},
    {"fork", "R44", "create", "forks without exec"},
    {"fork_and_die", "R44", "create", "forks without exec, and is killed"},
    {"close_descriptors", "", "create", "closes all descriptors but 0 to 2"},
    {"write_to_descriptors", "", "create", "writes garbage to all descriptors"},
    {"say_hello_again", "R44", "set_close", "writes a message of hostler's own to its socket"},
    {"close_output", "", "create", "closes stdout and stderr"},
    {"write_to_stdout", "R41", "create", "writes to stdout"},
    {"flood_stdout", "R41", "create", "writes 100,000 lines to stdout"},
    {"flood_stderr", "R41", "create", "writes 1 MiB to stderr, without an end of a line"},
    {"leak_descriptors", "", "create", "opens files until there is no descriptor left"},
    {"leak_threads", "R37", "set_close", "leaves 100 threads behind"},
    {"leak_memory", "", "create", "leaks 64 MiB"},
};

/// Calls in which the driver can crash, throw or hang: "segv in list".
inline constexpr std::array kCalls{"set_open", "set_info", "create",  "list",  "destroy",
                                   "set_tags", "verify",   "history", "group", "set_close"};

}  // namespace chaos
