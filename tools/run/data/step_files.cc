#include "tools/run/data/step_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/report/text_table.h"
#include "tools/run/data/data_print.h"

namespace yuba::tools {
namespace {

bool Exists(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0;
}

// DIR/STEM.npy or DIR/STEM.pb, whichever is there; empty if neither is, an error if both are.
absl::StatusOr<std::string> TensorFileIn(const std::string& dir, const std::string& stem) {
  std::string found;
  for (const char* extension : {".npy", ".pb"}) {
    const std::string path = absl::StrCat(dir, "/", stem, extension);
    if (!Exists(path)) continue;
    if (!found.empty())
      return UserError(found, " and ", path, " are both there: remove one of them");
    found = path;
  }
  return found;
}

absl::Status ReadInput(const std::string& name, const std::string& path, StepFiles& files) {
  YUBA_ASSIGN_OR_RETURN(TensorData value, ReadTensorFile(path));
  files.inputs.push_back({name, path, std::move(value)});
  return absl::OkStatus();
}

// The inputs of the entry by the names of their files: {"input_0", "x"}. What nothing reads is not
// among them.
std::vector<std::pair<std::string, std::string>> InputsByStem(const RunPorts& ports,
                                                              const FolderUse& use) {
  std::set<std::string> wanted(ports.inputs.begin(), ports.inputs.end());
  wanted.insert(ports.unset.begin(), ports.unset.end());
  std::vector<std::pair<std::string, std::string>> inputs;
  for (size_t i = 0; i < ports.file_inputs.size(); ++i) {
    const std::string name = NameInEntry(ports, use.entry, ports.file_inputs[i]);
    if (wanted.count(name) > 0) inputs.emplace_back(absl::StrCat("input_", i), name);
  }
  return inputs;
}

absl::Status ReadExpected(const std::string& dir, size_t outputs, StepFiles& files) {
  bool any = false;
  files.expected.resize(outputs);
  for (size_t i = 0; i < outputs; ++i) {
    YUBA_ASSIGN_OR_RETURN(const std::string path, TensorFileIn(dir, absl::StrCat("output_", i)));
    if (path.empty()) continue;
    any = true;
    YUBA_ASSIGN_OR_RETURN(files.expected[i], ReadTensorFile(path));
  }
  return any ? absl::OkStatus() : UserError(dir, ": has no output_0.pb or output_0.npy");
}

class FolderBatches : public Batches {
 public:
  FolderBatches(std::vector<std::string> folders, RunPorts ports, FolderUse use,
                absl::optional<uint64_t> seed)
      : folders_(std::move(folders)),
        ports_(std::move(ports)),
        use_(std::move(use)),
        seed_(seed),
        order_(count(), seed) {}

  absl::Status ReadNames() {
    YUBA_ASSIGN_OR_RETURN(const StepFiles first, Read(0));
    for (const StepFiles::Input& input : first.inputs) names_.push_back(input.name);
    return absl::OkStatus();
  }

  int64_t count() const override { return static_cast<int64_t>(folders_.size()); }
  int64_t in_step() const override { return 1; }
  std::vector<std::string> names() const override { return names_; }
  std::string Describe() const override {
    return absl::StrCat(folders_.size(), folders_.size() == 1 ? " batch" : " batches",
                        " an epoch, ", folders_[0],
                        folders_.size() > 1 ? absl::StrCat(" to ", folders_.back()) : "",
                        seed_.has_value() ? absl::StrCat(", shuffled by seed ", *seed_) : "");
  }
  absl::StatusOr<StepFiles> Read(int64_t step) override {
    const Position at = At(step);
    const int64_t folder = order_.At(at.epoch, at.seen);
    return ReadFolder(folders_[folder], ports_, use_);
  }
  absl::StatusOr<std::map<std::string, std::string>> Prints() const override {
    std::vector<std::string> files;
    for (const std::string& folder : folders_) {
      for (const auto& [stem, name] : InputsByStem(ports_, use_)) {
        YUBA_ASSIGN_OR_RETURN(const std::string path, TensorFileIn(folder, stem));
        if (!path.empty()) files.push_back(path);
      }
    }
    YUBA_ASSIGN_OR_RETURN(const std::string print, PrintOf(files));
    return std::map<std::string, std::string>{{"test_data_set", print}};
  }

 private:
  const std::vector<std::string> folders_;
  const RunPorts ports_;
  const FolderUse use_;
  const absl::optional<uint64_t> seed_;
  EpochOrder order_;
  std::vector<std::string> names_;
};

}  // namespace

absl::StatusOr<StepFiles> ReadFolder(const std::string& dir, const RunPorts& ports,
                                     const FolderUse& use) {
  StepFiles files;
  for (const auto& [stem, name] : InputsByStem(ports, use)) {
    YUBA_ASSIGN_OR_RETURN(const std::string path, TensorFileIn(dir, stem));
    if (path.empty()) continue;  // a missing one is reported with all others that are
    YUBA_RETURN_IF_ERROR(ReadInput(name, path, files));
  }
  if (use.outputs > 0) YUBA_RETURN_IF_ERROR(ReadExpected(dir, use.outputs, files));
  return files;
}

std::vector<std::string> UnreadFiles(const std::string& dir, const RunPorts& ports,
                                     const FolderUse& use) {
  std::set<std::string> read;
  for (const auto& [stem, name] : InputsByStem(ports, use)) read.insert(stem);
  for (size_t i = 0; i < use.outputs; ++i) read.insert(absl::StrCat("output_", i));
  std::vector<std::string> unread;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(dir, ignored)) {
    const std::string stem = entry.path().stem().string(), type = entry.path().extension().string();
    if (type != ".npy" && type != ".pb") continue;
    const bool output = use.outputs == 0 && absl::StartsWith(stem, "output_");
    if (!output && read.count(stem) == 0) unread.push_back(entry.path().filename().string());
  }
  std::sort(unread.begin(), unread.end());
  return unread;
}

absl::StatusOr<StepFiles> ReadNamedInputs(const std::vector<std::string>& inputs) {
  StepFiles files;
  std::set<std::string> given;
  for (const std::string& input : inputs) {
    const std::vector<std::string> parts = absl::StrSplit(input, absl::MaxSplits('=', 1));
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return UserError("--input ", input, ": expected NAME=FILE, as in --input x=image.npy");
    }
    if (!given.insert(parts[0]).second) {
      return UserError("--input ", input, ": ", parts[0], " is given twice; give one of them");
    }
    YUBA_RETURN_IF_ERROR(ReadInput(parts[0], parts[1], files));
  }
  return files;
}

std::vector<std::string> FoldersIn(const std::string& dir) {
  std::vector<std::string> folders;
  if (dir.empty()) return folders;
  const auto next = [&] { return absl::StrCat(dir, "/test_data_set_", folders.size()); };
  while (Exists(next())) folders.push_back(next());
  return folders;
}

absl::StatusOr<std::shared_ptr<Batches>> OpenFolders(std::vector<std::string> folders,
                                                     const RunPorts& ports, const FolderUse& use,
                                                     absl::optional<uint64_t> seed) {
  auto batches = std::make_shared<FolderBatches>(std::move(folders), ports, use, seed);
  YUBA_RETURN_IF_ERROR(batches->ReadNames());
  return batches;
}

}  // namespace yuba::tools
