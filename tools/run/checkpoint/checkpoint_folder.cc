#include "tools/run/checkpoint/checkpoint_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

using nlohmann::json;

constexpr char kMap[] = "weight_map", kMetadata[] = "metadata", kStep[] = "step";
constexpr char kShardStart[] = "model-step";  // of the names of files that are written here

int64_t BytesOf(const TensorToWrite& tensor) {
  int64_t bytes = ByteSize(tensor.type);
  for (const int64_t dim : tensor.dims) bytes *= dim;
  return bytes;
}

using Shards = std::vector<std::vector<TensorToWrite>>;

// The tensors in their order, as many in one as fit.
Shards CutIntoShards(const std::vector<TensorToWrite>& tensors, int64_t shard_bytes) {
  Shards shards;
  int64_t bytes = 0;
  for (const TensorToWrite& tensor : tensors) {
    const int64_t own = BytesOf(tensor);
    if (shards.empty() || bytes + own > shard_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(tensor);
    bytes += own;
  }
  return shards;
}

// The start of the names of a new checkpoint's files, which no file of the folder has: files of the
// checkpoint that is there must stay, even where it is of the same step.
std::string FreeStart(const std::string& folder, int64_t step) {
  std::string start = absl::StrCat(kShardStart, step);
  const auto taken = [&] {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      if (absl::StartsWith(at->path().filename().string(), start + "-")) return true;
    }
    return false;
  };
  for (int k = 1; taken(); ++k) start = absl::StrCat(kShardStart, step, ".", k);
  return start;
}

// The index of the folder, as JSON.
absl::StatusOr<json> ReadIndex(const std::string& folder) {
  const std::string file = IndexFileIn(folder);
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  json index = json::parse(text, nullptr, false);
  if (!index.is_object() || !index.contains(kMap) || !index[kMap].is_object()) {
    return UserError(file, ": is no index of a checkpoint: it has no ", kMap);
  }
  for (const auto& [name, shard] : index[kMap].items()) {
    if (shard.is_string() && shard.get<std::string>() == BaseName(shard.get<std::string>())) {
      continue;
    }
    return UserError(file, ": ", name, " is in no file of the folder");
  }
  return index;
}

// The files of the checkpoint that is there and that were written here; none where there is no
// index that can be read.
std::set<std::string> FilesOfIndex(const std::string& folder) {
  std::set<std::string> files;
  const absl::StatusOr<json> index = ReadIndex(folder);
  if (!index.ok()) return files;
  for (const auto& [name, shard] : (*index)[kMap].items()) {
    const std::string file = shard.get<std::string>();
    if (absl::StartsWith(file, kShardStart)) files.insert(absl::StrCat(folder, "/", file));
  }
  return files;
}

// Lists the tensor of the file, and says whether it is there.
bool TakeOwn(const std::string& name, const SafetensorsFile& file, SafetensorsFile& listed) {
  if (const auto tensor = file.tensors.find(name); tensor != file.tensors.end()) {
    listed.tensors[name] = tensor->second;
    return true;
  }
  if (const auto unread = file.unread.find(name); unread != file.unread.end()) {
    listed.unread[name] = unread->second;
    return true;
  }
  return false;
}

// Also where it shares another one's elements, which is listed then.
bool Take(const std::string& name, const SafetensorsFile& file, SafetensorsFile& listed) {
  if (TakeOwn(name, file, listed)) return true;
  const auto shared = file.metadata.find(name);
  return shared != file.metadata.end() && TakeOwn(shared->second, file, listed);
}

// Removes files unless they are kept.
class RemovedFiles {
 public:
  ~RemovedFiles() {
    for (const std::string& file : files_) ::unlink(file.c_str());
  }
  void Add(const std::string& file) { files_.insert(file); }
  void Swap(std::set<std::string>& files) { files_.swap(files); }

 private:
  std::set<std::string> files_;
};

}  // namespace

std::string IndexFileIn(const std::string& folder) {
  return absl::StrCat(folder, "/model.safetensors.index.json");
}

absl::Status ReplaceFile(const std::string& path,
                         const std::function<absl::Status(const std::string&)>& write) {
  if (!WasRead(path)) return write(path);
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error).string();
  const std::string beside = absl::StrCat(target, ".new");
  YUBA_RETURN_IF_ERROR(write(beside));
  if (std::rename(beside.c_str(), target.c_str()) == 0) return absl::OkStatus();
  const absl::Status failed = UserError(path, ": cannot be replaced: ", std::strerror(errno));
  ::unlink(beside.c_str());
  return failed;
}

absl::Status WriteCheckpointFolder(const std::string& folder,
                                   const std::vector<TensorToWrite>& tensors, int64_t step,
                                   const SafetensorsMetadata& said, int64_t shard_bytes) {
  YUBA_RETURN_IF_ERROR(MakeFolder(folder));
  std::set<std::string> old = FilesOfIndex(folder);
  const std::string start = FreeStart(folder, step);
  const Shards shards = CutIntoShards(tensors, shard_bytes);
  RemovedFiles removed;  // the new files, until the index names them; then the old ones
  json index;
  int64_t bytes = 0;
  index[kMap] = json::object();
  for (size_t s = 0; s < shards.size(); ++s) {
    const std::string name =
        absl::StrFormat("%s-%05d-of-%05d.safetensors", start, s + 1, shards.size());
    const std::string file = absl::StrCat(folder, "/", name);
    YUBA_RETURN_IF_ERROR(WriteSafetensors(file, shards[s], {{"format", "pt"}}));
    removed.Add(file);
    for (const TensorToWrite& tensor : shards[s]) {
      index[kMap][tensor.name] = name;
      bytes += BytesOf(tensor);
    }
  }
  index[kMetadata] = said;
  index[kMetadata]["total_size"] = bytes;
  index[kMetadata][kStep] = step;
  // Names come from the user's model and need not be UTF-8.
  const std::string text = index.dump(2, ' ', false, json::error_handler_t::replace);
  YUBA_RETURN_IF_ERROR(ReplaceFile(
      IndexFileIn(folder), [&](const std::string& file) { return WriteFile(file, text + "\n"); }));
  removed.Swap(old);
  return absl::OkStatus();
}

bool IsCheckpointFolder(const std::string& path) {
  std::error_code error;
  return absl::EndsWith(path, "/") || std::filesystem::is_directory(path, error);
}

std::string FolderOnDisk(const std::string& path) {
  if (path.empty() || IsCheckpointFolder(path)) return path;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return "";
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

absl::StatusOr<SafetensorsFile> ReadFolder(const std::string& folder) {
  std::error_code error;
  const std::string single = absl::StrCat(folder, "/model.safetensors");
  if (!std::filesystem::exists(IndexFileIn(folder), error) &&
      std::filesystem::exists(single, error)) {
    return ReadSafetensors(single);
  }
  YUBA_ASSIGN_OR_RETURN(const json index, ReadIndex(folder));
  const std::string file = IndexFileIn(folder);
  std::map<std::string, SafetensorsFile> shards;  // by path
  SafetensorsFile listed;
  for (const auto& [name, shard] : index[kMap].items()) {
    const std::string path = absl::StrCat(folder, "/", shard.get<std::string>());
    if (shards.count(path) == 0) {
      auto read = ReadSafetensors(path);
      if (!read.ok()) {
        return Annotate(read.status(), absl::StrCat(file, " says that ", name, " is there"));
      }
      shards[path] = *std::move(read);
    }
    if (!Take(name, shards[path], listed)) {
      return UserError(path, ": lacks ", name, ", which is there according to ", file);
    }
  }
  const json metadata = index.value(kMetadata, json::object());
  for (const auto& [name, value] : metadata.items()) {
    listed.metadata[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  for (const auto& [path, shard] : shards) {
    for (const auto& [name, stored] : shard.metadata) {
      if (listed.tensors.count(stored) > 0) listed.metadata.emplace(name, stored);
    }
  }
  return listed;
}

}  // namespace yuba::tools
