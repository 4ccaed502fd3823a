// What a program takes and gives, by name: all that the reading of files needs to know of it, so
// that files are read before it is compiled.
#ifndef YUBA_TOOLS_RUN_RUN_PORTS_H_
#define YUBA_TOOLS_RUN_RUN_PORTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "opsemantics/base/element_type.h"
#include "opsemantics/values/stored_form.h"
#include "opsemantics/values/tensor_data.h"
#include "runtime/program/program.pb.h"

namespace yuba::tools {

// f32[12, 48], where the first dimension counts examples.
struct PortType {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  int examples = -1;  // the dimension that counts examples; -1: none does
};
std::string Text(const PortType& type);

struct RunPorts {
  std::vector<std::string> entries;  // one at least
  // [entry] how often it runs in the time that the plan is for: micro 4, step 1.
  std::map<std::string, int64_t> times;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> unset;    // parameters that come without values
  std::set<std::string> parameters;  // all that have a value before the first step
  std::set<std::string> trainable;   // of them: weights, trained or frozen
  std::vector<program::Tie> ties;    // weights that are one parameter
  // By parameter: the parameters of the user's program that it is in another form.
  std::map<std::string, StoredForm> forms;
  std::map<std::string, TensorData> numbers;  // of the model's file, that are part of the code
  // Parameters of the user's program that no value can be set of, as in compiler::Model.
  std::map<std::string, std::string> missing_parameters;
  std::map<std::string, PortType> types;  // of inputs and parameters
  // [i] the input or parameter of which input_i.pb is the value.
  std::vector<std::string> file_inputs;
  std::vector<std::string> file_outputs;  // [i] the output that output_i.pb is compared with
  // Of a training step: what decides what it computes: {"loss", "mse"}.
  std::map<std::string, std::string> settings;
  bool random = false;  // whether random numbers are drawn, so that there is a seed to set
};
RunPorts PortsOf(const program::Program& program);

// The outputs of a training step that are weights of others, each with the name of that output:
// "eval:loss_weight" of "eval:loss". A training step has no outputs but its loss and what else it
// measures, which it names itself; outputs of other programs are the user's, whatever their names.
std::map<std::string, std::string> WeightsOf(const program::Program& program);

// What `name` of the model's file is called in an entry: of several entries each may have inputs
// and outputs of its own, "decode:ids", besides those that all have in common.
std::string NameInEntry(const RunPorts& ports, const std::string& entry, const std::string& name);

// The entry that trains, and those that evaluate and that add up gradients of micro-batches for it.
constexpr char kTrainEntry[] = "step";
constexpr char kEvalEntry[] = "eval";
constexpr char kMicroEntry[] = "micro";
// Whether the program trains and has both: then `eval` runs between steps unless --entry names it.
bool EvaluatesBetweenSteps(const RunPorts& ports);

// The parameter that --lr-schedule sets.
constexpr char kLearningRate[] = "lr";

// The state that counts the parts of a step in micro-batches.
constexpr char kPartState[] = "part";
// What the names of the states end in that hold means of gradients over the parts.
constexpr char kMeanGradient[] = ".gradient";
// How often a step of the program runs kMicroEntry, before it updates; 1 where it has no such
// entry.
int64_t MicroBatchesOf(const RunPorts& ports);

// The entry that reads the inputs of a step: itself, or kMicroEntry for a step in micro-batches.
std::string ReadingEntry(const RunPorts& ports, const std::string& entry);

// The inputs that a step of this entry may read: those of all entries, and its own.
std::vector<std::string> InputsOfEntry(const RunPorts& ports, const std::string& entry);

// In how many parts a step of the entry reads its inputs: those of micro-batches where it trains or
// evaluates, else 1.
int64_t PartsOf(const RunPorts& ports, const std::string& entry);

// The type of all that a step of the entry reads of an input: with 4 micro-batches i64[8, 16] where
// the program's input is i64[2, 16] and the first dimension counts examples.
PortType TypeInStep(const RunPorts& ports, const std::string& entry, const std::string& input);

// How many examples a step of the entry takes: the least of the dimensions of its inputs that count
// them (others, as labels of all tokens in one dimension, have several elements for each); 0 where
// none does.
int64_t ExamplesInStep(const RunPorts& ports, const std::string& entry);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_PORTS_H_
