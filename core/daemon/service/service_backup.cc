#include <utility>

#include "core/daemon/service/service.h"
#include "core/log/log.h"

/// The request for a backup.
namespace hostler::daemon {
namespace {

class StoredBackup final : public api::ByteSource {
 public:
  explicit StoredBackup(std::unique_ptr<store::Backup> backup) : backup_(std::move(backup)) {}
  Result<std::string> next() override {
    auto piece = backup_->next();
    if (!piece) log::error("store", "the backup is not whole: " + piece.error().message);
    return piece;
  }

 private:
  std::unique_ptr<store::Backup> backup_;
};

}  // namespace

void DaemonService::backup(const api::Principal& who,
                           api::Answer<std::shared_ptr<api::ByteSource>> answer) {
  const bool taken = uses_.worker->post([store = uses_.store, name = who.name, answer] {
    auto backup = store->begin_backup();
    if (!backup) return answer(tl::unexpected(backup.error()));
    log::info("daemon", name + " makes a backup");
    answer(std::make_shared<StoredBackup>(*std::move(backup)));
  });
  if (!taken) answer(fail(Errc::kUnavailable, "too much is being read; ask again later"));
}

}  // namespace hostler::daemon
