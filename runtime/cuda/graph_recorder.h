// Steps as CUDA graphs (step_recorder.h). The streams of all devices are captured: that of device 0
// begins, the others join it by an event, and exchanges order them by their events as always, which
// become edges of the graph; at the end they are joined to the first one again. A graph that was
// instantiated once is started on the stream of device 0, and the others wait for its end.
#ifndef YUBA_RUNTIME_CUDA_GRAPH_RECORDER_H_
#define YUBA_RUNTIME_CUDA_GRAPH_RECORDER_H_

#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/step_recorder.h"

namespace yuba::cuda {

class GraphRecorder final : public runtime::StepRecorder {
 public:
  // The devices outlive it and what it has recorded.
  static absl::StatusOr<std::unique_ptr<GraphRecorder>> Make(std::vector<CudaDevice*> devices);
  ~GraphRecorder() override;

  const char* Name() const override { return "a CUDA graph"; }
  absl::Status Begin() override;
  absl::StatusOr<std::unique_ptr<runtime::RecordedStep>> End() override;
  void Abandon() override;

 private:
  explicit GraphRecorder(std::vector<CudaDevice*> devices) : devices_(std::move(devices)) {}
  absl::Status Join();
  absl::StatusOr<cudaGraph_t> EndCapture();

  const std::vector<CudaDevice*> devices_;
  // [device]: an event of its GPU; of device 0 the beginning of a capture, of others their end in
  // it.
  std::vector<cudaEvent_t> events_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GRAPH_RECORDER_H_
