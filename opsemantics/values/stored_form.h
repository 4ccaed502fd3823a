// A tensor of a file that is parameters or buffers of a user's program in another form: their
// elements in another order, or several joined to one, but each of them once; or one as it is,
// under another name. Exporters store a linear layer's weight transposed, and an LSTM's gates in
// the order of ONNX; a buffer `mean` is mean_1 where an output is called so.
//
// Example: val_18 [48, 96] is blocks.0.q.weight [96, 48], transposed. The tensor is called
// "blocks.0.q.weight, transposed" then, and takes its value from a file of PyTorch that has
// blocks.0.q.weight, or from one that has it by the name val_18.
#ifndef YUBA_OPSEMANTICS_VALUES_STORED_FORM_H_
#define YUBA_OPSEMANTICS_VALUES_STORED_FORM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba {

struct StoredForm {
  enum Kind {
    kRenamed,     // as it is, under another name
    kReshaped,    // the elements in their order, in another shape
    kTransposed,  // of a matrix
    kBlocks,      // the rows of each parameter in `blocks`, parameters behind each other
    kUnknown,     // all elements, in an order that the file does not tell
  };
  Kind kind = kReshaped;
  std::vector<std::string> parameters;  // PyTorch's names; kBlocks: one or several, else one
  // kBlocks: block i of the tensor is block blocks[i] of the parameter, each of so many equal ones.
  std::vector<int> blocks;
  std::string stored_as;  // the name in the file
  friend bool operator==(const StoredForm& a, const StoredForm& b) {
    return a.kind == b.kind && a.parameters == b.parameters && a.blocks == b.blocks &&
           a.stored_as == b.stored_as;
  }
};

// What the tensor is called: "q.weight, transposed"; stored_as where the form is unknown, and where
// it has the parameter's elements as they are, whose own name something else in the file has.
std::string NameOf(const StoredForm& form);

// Whether somebody may mean the tensor by `name`: by any of NameOf, stored_as and the parameters.
bool IsCalled(const StoredForm& form, const std::string& name);

// The tensor of shape `dims` from its parameters, which are in the order of form.parameters. A
// user's error where their type or number of elements is another, or the form is unknown.
absl::StatusOr<TensorData> InStoredForm(const StoredForm& form, ElementType type,
                                        const std::vector<int64_t>& dims,
                                        const std::vector<TensorData>& parameters);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_VALUES_STORED_FORM_H_
