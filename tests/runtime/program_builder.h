// Programs made by hand for tests of the runtime: boxes are given for each device, offsets in the
// arena are given out one after the other. Two devices that store halves of x and gather the whole:
//
//   ProgramBuilder builder({2});
//   int x = builder.AddBuffer("x", program::F32, {8}, CutAlong({8}, 0, 2));
//   int y = builder.AddBuffer("y", program::F32, {8}, std::vector<Box>(2, WholeBox({8})));
//   builder.AddExchange(x, y);
//   builder.AddInput("x", x);
//   builder.AddOutput("y", y);
//   auto session = OpenSession(builder.Load());
#ifndef YUBA_TESTS_RUNTIME_PROGRAM_BUILDER_H_
#define YUBA_TESTS_RUNTIME_PROGRAM_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "opsemantics/base/box.h"
#include "runtime/program/program.h"
#include "runtime/session.h"

namespace yuba::runtime {

class ProgramBuilder {
 public:
  // A mesh with an axis of each of these sizes, named a, b, ...
  explicit ProgramBuilder(const std::vector<int>& mesh);

  int devices() const { return devices_; }

  // A buffer whose box on device d is boxes[d]; returns its index.
  int AddBuffer(const std::string& name, program::ElementType type,
                const std::vector<int64_t>& dims, const std::vector<Box>& boxes);
  // Moves the whole box of one buffer into the box of another, on each device.
  program::Exchange* AddExchange(int source, int destination);
  // Reduces `parts` partials; device d wrote partial part[d].
  program::Exchange* AddReduction(int source, int destination, program::Reducer reducer, int parts,
                                  const std::vector<int64_t>& part);
  // A library call; its types follow from the left operand's.
  // indices[i][d] is what index i runs over on device d; the accesses are the buffers' whole boxes.
  // `operands` and `result` are buffers.
  program::Kernel* AddLibraryKernel(const program::LibraryCall& call,
                                    const std::vector<std::vector<Interval>>& indices,
                                    const std::vector<int>& operands, int result);
  // Gives a function that has its indices the one definition that it computes, of so many operands.
  static void AddDefinition(program::Function* function, int operands);
  // All instructions so far, so many times instead of once.
  void Repeat(int times);
  program::Port* AddInput(const std::string& name, int buffer);
  program::Port* AddOutput(const std::string& name, int buffer);

  // Tables over all mesh axes, from a value or box for each device.
  program::Bound Table(const std::vector<int64_t>& by_device) const;
  program::Box BoxTable(const std::vector<Box>& by_device) const;

  program::Program& message() { return message_; }
  // The program, loaded; the test case fails where it does not load.
  std::shared_ptr<const LoadedProgram> Load() const;

 private:
  program::Program message_;
  int devices_ = 1;
};

// Boxes that cut a tensor along dimension `dim` into `parts` parts, sizes as PartOf has them.
std::vector<Box> CutAlong(const std::vector<int64_t>& dims, int dim, int parts);

// A session on the program; the test case fails where it does not open.
std::unique_ptr<Session> OpenSession(const std::shared_ptr<const LoadedProgram>& program,
                                     const RunOptions& options = {});

TensorData FloatTensor(const std::vector<int64_t>& shape, const std::vector<float>& values);
std::vector<float> FloatsOf(const TensorData& tensor);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_PROGRAM_BUILDER_H_
