#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/api/job_codec.h"
#include "core/cli/client.h"

namespace hostler::cli {

/// Uploads local files that are inputs of jobs. Each file is read, and sent if the daemon does not
/// have it, once for all jobs of a submit: all jobs of an array have the same inputs.
class Uploads {
 public:
  /// Without `send` the files are only read: for a dry run.
  explicit Uploads(Client& client, bool send = true) : client_(client), sends_(send) {}

  /// Uploads the files that the daemon does not have, and sets sha256 and the executable flag of
  /// the job's inputs. kInvalidArgument: a file cannot be read; the message names the input.
  Result<void> upload(model::JobSpec& spec, const std::vector<api::LocalInput>& local);

 private:
  struct File {
    std::string sha256;
    bool executable = false;
  };
  static Result<File> read(const std::string& file);
  Result<File> send(const std::string& file);

  Client& client_;
  const bool sends_;
  std::map<std::string, File> sent_;  ///< Key: the file's name.
};

}  // namespace hostler::cli
