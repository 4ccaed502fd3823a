#include "tools/train_flags.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

absl::StatusOr<double> AboveZero(const char* flag, const std::string& text, const char* what) {
  double number = 0;
  if (absl::SimpleAtod(text, &number) && std::isfinite(number) && number > 0) return number;
  return UserError(flag, " ", text, ": ", what, " is a number above 0");
}

absl::StatusOr<int64_t> Count(const char* flag, const std::string& text, const char* what) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number > 0) return number;
  return UserError(flag, " ", text, ": it is a number of ", what, ", at least 1");
}

// --freeze-rows.
absl::StatusOr<std::map<std::string, std::vector<int64_t>>> ParseFreezeRows(
    const std::vector<std::string>& flags) {
  std::map<std::string, std::vector<int64_t>> rows;
  for (const std::string& text : flags) {
    const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (rows.count(parts[0]) > 0) {
      return UserError("--freeze-rows ", text, ": ", parts[0], " is named twice; give all of its ",
                       "rows at once, as in --freeze-rows emb.weight=0,3");
    }
    for (const auto row : absl::StrSplit(parts.size() == 2 ? parts[1] : "", ',')) {
      int64_t number = 0;
      if (parts[0].empty() || !absl::SimpleAtoi(row, &number)) {
        return UserError("--freeze-rows ", text, ": expected TABLE=ROW,..., as in ",
                         "--freeze-rows emb.weight=0");
      }
      rows[parts[0]].push_back(number);
    }
  }
  return rows;
}

}  // namespace

void AddTrainFlags(CLI::App* app, ModelFlags& flags) {
  CLI::Option* train = app->add_option(
      "--train", flags.train,
      "a training step with this optimizer, a description that `yuba op` lists or one of "
      "your own (docs/training.md); NAME or NAME:ATTRIBUTE=NUMBER,...");
  CLI::Option* loss =
      app->add_option("--loss", flags.loss,
                      "of --train: a description of a loss, NAME or NAME:ATTRIBUTE=NUMBER,...")
          ->needs(train);
  app->add_option("--loss-output", flags.loss_output, "the output that the loss judges")
      ->needs(loss);
  app->add_option("--metrics", flags.metrics,
                  "NAME,...: what is measured of that output beside the loss, as accuracy")
      ->needs(loss);
  app->add_option("--minimize", flags.minimize,
                  "of --train: the output that is the loss, of a model that has it inside")
      ->needs(train)
      ->excludes(loss);
  app->add_option("--freeze", flags.freeze,
                  "a parameter that is not trained; * stands for any text")
      ->needs(train)
      ->take_all();
  app->add_option("--trainable", flags.trainable,
                  "a stored tensor that is trained, whatever the file says of it; * stands for any "
                  "text, and --freeze takes away from what it names")
      ->needs(train)
      ->take_all();
  app->add_option("--freeze-rows", flags.freeze_rows,
                  "TABLE=ROW,...: rows that are not trained, as an embedding's padding_idx")
      ->needs(train)
      ->take_all();
  app->add_flag("--allow-missing-parameters", flags.allow_missing,
                "train what is there of a file that lacks parameters of its PyTorch model")
      ->needs(train);
  app->add_option("--tie", flags.ties,
                  "A=B: the parameter A is B, or its transpose; both must have equal values")
      ->needs(train)
      ->take_all();
  app->add_option("--lr", flags.lr, "the learning rate")->needs(train)->capture_default_str();
  app->add_option("--clip", flags.clip,
                  "gradients whose norm, of all together, is above this are made smaller")
      ->needs(train);
  app->add_option("--precision", flags.precision,
                  "bf16: matrix products and convolutions read and write bf16; weights stay f32")
      ->needs(train);
  app->add_option("--micro-batches", flags.micro_batches,
                  "a step computes gradients of so many equal parts of its batch, one by one, and "
                  "updates with their mean")
      ->needs(train);
  app->add_option("--eval-every", flags.eval_every,
                  "a second entry, `eval`, computes the loss without training; the plan is for a "
                  "run of it after so many steps each (yuba run --eval)")
      ->needs(train);
}

absl::StatusOr<onnx::TrainOptions> TrainOptionsOf(const ModelFlags& flags) {
  onnx::TrainOptions options;
  options.optimizer = flags.train;
  options.loss = flags.loss;
  options.minimize = flags.minimize;
  if (options.loss.empty() && options.minimize.empty()) {
    return UserError("--train needs a loss: --loss NAME, of the model's output and labels, or ",
                     "--minimize OUTPUT of a model that has its loss inside");
  }
  options.output = flags.loss_output;
  options.metrics = flags.metrics;
  options.freeze = flags.freeze;
  options.trainable = flags.trainable;
  YUBA_ASSIGN_OR_RETURN(options.freeze_rows, ParseFreezeRows(flags.freeze_rows));
  options.allow_missing = flags.allow_missing;
  options.list_all = flags.list_all;
  for (const std::string& tie : flags.ties) {
    const std::vector<std::string> names = absl::StrSplit(tie, absl::MaxSplits('=', 1));
    if (names.size() != 2) return UserError("--tie ", tie, ": expected two names, A=B");
    options.ties.push_back({names[0], names[1]});
  }
  YUBA_ASSIGN_OR_RETURN(options.lr, AboveZero("--lr", flags.lr, "a learning rate"));
  if (!flags.clip.empty()) {
    YUBA_ASSIGN_OR_RETURN(options.clip, AboveZero("--clip", flags.clip, "the largest norm"));
  }
  if (!flags.micro_batches.empty()) {
    YUBA_ASSIGN_OR_RETURN(options.micro_batches,
                          Count("--micro-batches", flags.micro_batches, "micro-batches"));
  }
  if (!flags.eval_every.empty()) {
    YUBA_ASSIGN_OR_RETURN(options.eval_every, Count("--eval-every", flags.eval_every, "steps"));
  }
  if (flags.precision == Name(ElementType::kBF16)) {
    options.precision = ElementType::kBF16;
  } else if (!flags.precision.empty() && flags.precision != Name(ElementType::kF32)) {
    return UserError("--precision ", flags.precision, ": it may be bf16, or f32, as without it; ",
                     "small gradients are lost in f16");
  }
  return options;
}

}  // namespace yuba::tools
