#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

/// The POSIX sh scripts that run on hosts: the files of sh/, which the build embeds without their
/// comments. Private to core/ssh.
///
/// A script is sent on standard input to `sh -s -- ARGUMENT...`, so that it needs no quoting for
/// the login shell. It answers with one line that begins with a fixed word and the caller's nonce;
/// all other output, e.g. of the login shell, is ignored.
namespace hostler::ssh::scripts {

/// The file of the host's secret: the init script writes it, the challenge reads it.
#define HOSTLER_SECRET_FILE "${HOSTLER_AGENT_DIR:-/var/lib/hostler-agent}/secret"

/// The files of the init command are HOSTLER_INIT_FILES.status, .output and others; set $file, the
/// file of the secret, before.
#define HOSTLER_INIT_FILES "${file%/*}/init"

/// The folder of what is known about accounts of leases; set $file before.
#define HOSTLER_ACCOUNTS_DIR "${file%/*}/accounts"

// With their arguments.
extern const std::string_view kChallenge;         ///< NONCE INSTANCE
extern const std::string_view kInitState;         ///< NONCE [INSTANCE]
extern const std::string_view kPrepareRotation;   ///< NONCE MARK KEY_TYPE KEY
extern const std::string_view kActivateRotation;  ///< NONCE KEY_TYPE KEY

// Parts of the scripts of init_script.cc: fill() gives values to the names between @.
extern const std::string_view kInit;           ///< FUNCTIONS STATE SECRET HOST_KEY COMMAND
extern const std::string_view kInitFunctions;  ///< INSTANCE
extern const std::string_view kInitRun;        ///< functions that run the init command
extern const std::string_view kInitCommand;    ///< COMMAND COMMAND_END BEGIN
extern const std::string_view kInitBegin;
extern const std::string_view kInitAwait;
extern const std::string_view kInitNoCommand;
extern const std::string_view kInitHostKey;   ///< PUBLIC_KEY PRIVATE_KEY
extern const std::string_view kBootFile;      ///< a function that writes a boot file
extern const std::string_view kDeliver;       ///< INSTANCE COMMAND COMMAND_END START START_END
extern const std::string_view kDeliverStart;  ///< FUNCTIONS BEGIN

// The scripts of account.cc, and what fill() gives to them. FUNCTIONS needs USER LEASE OWNER.
extern const std::string_view kAccountFunctions;
extern const std::string_view kOpenAccount;   ///< FUNCTIONS LEASE KEYS
extern const std::string_view kOpenRoot;      ///< FUNCTIONS KEYS
extern const std::string_view kCloseAccount;  ///< FUNCTIONS
extern const std::string_view kFindAccounts;  ///< OWNER
/// FUNCTIONS LOGIN TEXT TEXT_END COMMAND COMMAND_END SECONDS
extern const std::string_view kAccountNotice;

/// The script with a value for each @NAME@. On a line of its own a name stands for whole lines: an
/// empty value leaves no line. Asserts that each name has a value. Values are not searched.
std::string fill(std::string_view script,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values);

/// A last line for text that does not have it.
std::string end_of(std::string_view text);

/// "sh -s -- a b". Arguments must be words of [A-Za-z0-9_./+=:-]; asserted. With a prefix, as
/// "sudo -n ", the script still gets the variables that the driver has set for the session.
std::string command(std::string_view prefix, std::initializer_list<std::string_view> arguments);

/// The text after "WORD NONCE " in the first complete line that begins so; empty if there is none.
std::string_view answer(std::string_view output, std::string_view word, std::string_view nonce);

}  // namespace hostler::ssh::scripts
