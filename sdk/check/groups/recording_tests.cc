// Group J: calls that are recorded, and made again.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/files.h"
#include "core/json/writer.h"
#include "core/plugin_host/in_process_set.h"
#include "core/tap/recorder.h"
#include "core/tap/replay.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/host/limited_set.h"

namespace hostler::check {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecordingMax = std::size_t{8} << 20U;  // bytes

/// A folder of this user alone, removed at the end.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string form = (fs::temp_directory_path() / "driver-check-XXXXXX").string();
    if (::mkdtemp(form.data()) != nullptr) path_ = form;
  }
  ~PrivateFolder() {
    std::error_code none;
    if (!path_.empty()) fs::remove_all(path_, none);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Now now() {
  using namespace std::chrono;
  return {Mono(steady_clock::now().time_since_epoch()),
          Wall{duration_cast<microseconds>(system_clock::now().time_since_epoch()).count()}};
}

Result<std::shared_ptr<tap::RecordingFile>> open_recording(
    const fs::path& path, const plugin_host::DriverLibrary& driver) {
  tap::RecordingFile::Options options;
  options.path = path;
  options.set = Session::kSetId;
  options.driver = driver.table().name;
  options.clock = now;
  return tap::RecordingFile::open(std::move(options)).map([](auto file) {
    return std::shared_ptr<tap::RecordingFile>(std::move(file));
  });
}

std::string in_json(const std::string& text) {
  std::string out;
  json::Writer(out).value(text);
  return out;
}

/// So that no create that is recorded or made again is refused.
void await_room(Context& c, const Library& library) {
  Session session(c, library);
  if (session.open_or_skip()) session.await_room();
}

/// The life of one machine, recorded in the file. False: there is nothing to replay.
bool record_life(Context& c, const Library& library, const fs::path& path) {
  const auto file = open_recording(path, *library);
  if (!file) {
    c.findings.fail("kit", "", file.error().message);
    return false;
  }
  Session session(c, library, [&](std::unique_ptr<plugin_host::DriverSet> set) {
    return tap::record(std::move(set), *file, library->table().version);
  });
  if (!session.open_or_skip()) return false;
  const auto made = make_machine(c, session);
  if (!made) return false;
  (void)session.set_tags({.id = made->id, .set = {{"purpose", "replay"}}});
  (void)session.list();
  (void)session.destroy(made->id);
  return true;
}

void replay_recording(Context& c, const Library& library) {
  const PrivateFolder folder;
  if (folder.path().empty()) return c.findings.fail("kit", "", "no folder can be made in /tmp");
  const fs::path path = folder.path() / "calls.jsonl";
  await_room(c, library);
  if (!record_life(c, library, path)) return;
  await_room(c, library);
  const std::string text = read_file(path, kRecordingMax).value_or(std::string());
  if (text.empty()) return c.findings.fail("kit", "", "the recording cannot be read");
  for (const auto& secret : c.secrets)
    if (text.find(secret) != std::string::npos || text.find(in_json(secret)) != std::string::npos)
      c.findings.fail("R42", "", "a credential is in the recording of its calls");
  plugin_host::InProcessOptions options;
  options.set = "replay";
  const auto set = keep_rate(plugin_host::make_in_process_set(library, options), c);
  const auto report = tap::replay(path, *set,
                                  {.config_json = c.settings.config_json,
                                   .credentials_json = c.settings.credentials_json,
                                   .creates_max = 1,
                                   .timeout = c.options.deadline,
                                   .stop = [&] { return c.stops.load(); }});
  if (!report) return c.findings.fail("replay", "", report.error().message);
  for (const auto& difference : report->differences)
    c.findings.warn("replay", "", "the same calls again: " + difference);
  for (const auto& id : report->left)
    c.findings.fail("replay", "destroy", "the machine " + id + " of the replay is left");
}

}  // namespace

void add_recording_tests(std::vector<Test>& to) {
  to.push_back({"recording.replay", 'J', 2, Needs::kMachines,
                "recorded calls that are made again end as they did",
                &on_library<replay_recording>});
}

}  // namespace hostler::check
