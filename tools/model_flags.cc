// The flags of a model and of a mesh.
#include "tools/model_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace yuba::tools {

void AddModelFlags(CLI::App* app, ModelFlags& flags) {
  app->add_option("model", flags.file, "the model, an ONNX file")->required();
  app->add_option("--from-tensors", flags.from_tensors,
                  "plan the part of the model behind these tensors, which become inputs: NAME,...");
  app->add_option("--to-tensors", flags.to_tensors,
                  "plan the part of the model that leads to these tensors, which become the "
                  "outputs: NAME,...");
  app->add_option("--dim", flags.dims, "a symbolic dimension: NAME=N")->take_all();
  app->add_option("--batch", flags.batch, "how many examples a step takes")->check(WholeNumber(1));
  app->add_option("--batch-dim", flags.batch_dim,
                  "which dimension counts examples, where the file does not call it batch and the "
                  "nodes leave it open: NAME, as the file calls it, or INPUT:DIMENSION, as in x:1; "
                  "several with commas between");
  app->add_option("--bind", flags.bind,
                  "an input that is known when planning: NAME=FILE (.npy or .pb)")
      ->take_all();
  app->add_option("--state", flags.states,
                  "an output that is an input's value in the next step: OUT=IN")
      ->take_all();
  app->add_option("--cache", flags.caches,
                  "an input that an output puts rows behind is a state of LENGTH rows: "
                  "PAST=PRESENT:LENGTH; a * in both names stands for the same text")
      ->take_all();
  app->add_option("--operators", flags.operators, "descriptions of more operators (.tdl)")
      ->take_all();
  app->add_flag("--strict", flags.strict,
                "a model of an opset that is not known yet is an error, not a warning");
  app->add_flag("--progress", flags.progress,
                "say on stderr what goes on, at most a line a second; on a terminal one line shows "
                "it anyway");
}

void AddEntryFlags(CLI::App* app, ModelFlags& flags) {
  app->add_option(
         "--entry", flags.entries,
         "the model at these sizes, run by itself: NAME:SYMBOL=N,...; several entries share "
         "weights and states")
      ->take_all();
  app->add_option("--times", flags.times,
                  "how often an entry runs, for what moves in all: NAME=N (default 1)")
      ->take_all();
  app->add_flag("--init", flags.init,
                "compute what never changes once, by an entry that runs before the first step");
}

void AddMeshFlags(CLI::App* app, MeshFlags& flags) {
  CLI::Option* devices = app->add_option("--devices", flags.devices, "number of devices")
                             ->check(WholeNumber(1, kMostPlannedDevices))
                             ->capture_default_str();
  app->add_option("--mesh", flags.groups,
                  "the devices as named groups, as in data=2,model=4; instead of --devices")
      ->excludes(devices);
}

absl::StatusOr<Mesh> MeshOfFlags(const MeshFlags& flags) {
  if (!flags.groups.empty()) {
    absl::StatusOr<Mesh> mesh = MeshOfGroups(flags.groups);
    return mesh.ok() ? mesh : Annotate(mesh.status(), absl::StrCat("--mesh ", flags.groups));
  }
  return MeshOf(flags.devices);
}

NamedValue SplitNamed(const std::string& text) {
  return absl::StrSplit(text, absl::MaxSplits('=', 1));
}

}  // namespace yuba::tools
