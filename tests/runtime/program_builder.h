// Programs made by hand: boxes are given for each device, offsets are given out one after the
// other.
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
  explicit ProgramBuilder(const std::vector<int>& mesh);

  int devices() const { return devices_; }

  // A buffer whose box on device d is boxes[d].
  int AddBuffer(const std::string& name, program::ElementType type,
                const std::vector<int64_t>& dims, const std::vector<Box>& boxes);
  // Moves the whole box of one buffer into the box of another, on each device.
  program::Exchange* AddExchange(int source, int destination);
  program::Exchange* AddReduction(int source, int destination, program::Reducer reducer, int parts,
                                  const std::vector<int64_t>& part);
  // A library call; the indices' parts are by device, the accesses are the buffers' whole boxes.
  program::Kernel* AddLibraryKernel(const program::LibraryCall& call,
                                    const std::vector<std::vector<Interval>>& indices,
                                    const std::vector<int>& operands, int result);
  program::Port* AddInput(const std::string& name, int buffer);
  program::Port* AddOutput(const std::string& name, int buffer);

  program::Bound Table(const std::vector<int64_t>& by_device) const;
  program::Box BoxTable(const std::vector<Box>& by_device) const;

  program::Program& message() { return message_; }
  program::Stage& stage() { return *message_.mutable_stages(0); }
  // Checks that it loads.
  std::shared_ptr<const LoadedProgram> Load() const;

 private:
  program::Program message_;
  int devices_ = 1;
};

// Equal parts of [0, extent) along dimension `dim` of a tensor, one for each device.
std::vector<Box> CutAlong(const std::vector<int64_t>& dims, int dim, int parts);

std::unique_ptr<Session> OpenSession(const std::shared_ptr<const LoadedProgram>& program,
                                     const RunOptions& options = {});

HostTensor FloatTensor(const std::vector<int64_t>& shape, const std::vector<float>& values);
std::vector<float> FloatsOf(const HostTensor& tensor);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_PROGRAM_BUILDER_H_
