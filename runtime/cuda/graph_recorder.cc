#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/graph_recorder.h"

#include <utility>

namespace yuba::cuda {
namespace {

class RecordedGraph final : public runtime::RecordedStep {
 public:
  RecordedGraph(std::vector<CudaDevice*> devices, std::vector<DeviceRecording> recordings)
      : devices_(std::move(devices)), recordings_(std::move(recordings)) {}
  ~RecordedGraph() override {
    if (!devices_[0]->gpu().Enter().ok()) return;
    if (ended_ != nullptr) cudaEventDestroy(ended_);
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }

  absl::Status Instantiate(cudaGraph_t captured) {
    YUBA_RETURN_IF_ERROR(devices_[0]->gpu().Enter());
    YUBA_CUDA(cudaGraphInstantiate(&graph_, captured, 0));
    YUBA_CUDA(cudaEventCreateWithFlags(&ended_, cudaEventDisableTiming));
    return absl::OkStatus();
  }

  absl::Status Start() override {
    for (size_t d = 0; d < devices_.size(); ++d) devices_[d]->BeginReplay(recordings_[d]);
    const cudaStream_t origin = devices_[0]->stream();
    YUBA_RETURN_IF_ERROR(devices_[0]->gpu().Enter());
    YUBA_CUDA(cudaGraphLaunch(graph_, origin));
    YUBA_CUDA(cudaEventRecord(ended_, origin));
    for (size_t d = 1; d < devices_.size(); ++d) {
      YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
      YUBA_CUDA(cudaStreamWaitEvent(devices_[d]->stream(), ended_, 0));
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<CudaDevice*> devices_;
  const std::vector<DeviceRecording> recordings_;  // [device]
  cudaGraphExec_t graph_ = nullptr;
  cudaEvent_t ended_ = nullptr;  // of device 0's GPU
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphRecorder>> GraphRecorder::Make(
    std::vector<CudaDevice*> devices) {
  std::unique_ptr<GraphRecorder> made(new GraphRecorder(std::move(devices)));
  for (const CudaDevice* device : made->devices_) {
    YUBA_RETURN_IF_ERROR(device->gpu().Enter());
    made->events_.push_back(nullptr);
    YUBA_CUDA(cudaEventCreateWithFlags(&made->events_.back(), cudaEventDisableTiming));
  }
  return made;
}

GraphRecorder::~GraphRecorder() {
  for (cudaEvent_t event : events_) {
    if (event != nullptr) cudaEventDestroy(event);
  }
}

absl::Status GraphRecorder::Begin() {
  const cudaStream_t origin = devices_[0]->stream();
  YUBA_RETURN_IF_ERROR(devices_[0]->gpu().Enter());
  // In this mode the driver refuses calls of this thread that a recording may not have.
  YUBA_CUDA(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
  const auto join = [&]() -> absl::Status {
    for (CudaDevice* device : devices_) YUBA_RETURN_IF_ERROR(device->BeginRecording());
    YUBA_CUDA(cudaEventRecord(events_[0], origin));
    for (size_t d = 1; d < devices_.size(); ++d) {
      YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
      YUBA_CUDA(cudaStreamWaitEvent(devices_[d]->stream(), events_[0], 0));
    }
    return absl::OkStatus();
  };
  absl::Status status = join();
  if (!status.ok()) Abandon();
  return status;
}

// Lets the stream of device 0 wait for all others.
absl::Status GraphRecorder::Join() {
  const cudaStream_t origin = devices_[0]->stream();
  for (size_t d = 0; d < devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
    YUBA_RETURN_IF_ERROR(devices_[d]->EndStep());
    if (d == 0) continue;
    YUBA_CUDA(cudaEventRecord(events_[d], devices_[d]->stream()));
    YUBA_RETURN_IF_ERROR(devices_[0]->gpu().Enter());
    YUBA_CUDA(cudaStreamWaitEvent(origin, events_[d], 0));
  }
  return absl::OkStatus();
}

// What was captured; null after an error.
absl::StatusOr<cudaGraph_t> GraphRecorder::EndCapture() {
  YUBA_RETURN_IF_ERROR(devices_[0]->gpu().Enter());
  cudaGraph_t captured = nullptr;
  YUBA_CUDA(cudaStreamEndCapture(devices_[0]->stream(), &captured));
  return captured;
}

absl::StatusOr<std::unique_ptr<runtime::RecordedStep>> GraphRecorder::End() {
  const absl::Status joined = Join();
  if (!joined.ok()) {
    Abandon();
    return joined;
  }
  std::vector<DeviceRecording> recordings;
  for (CudaDevice* device : devices_) recordings.push_back(device->EndRecording());
  YUBA_ASSIGN_OR_RETURN(const cudaGraph_t captured, EndCapture());
  auto step = std::make_unique<RecordedGraph>(devices_, std::move(recordings));
  const absl::Status status = step->Instantiate(captured);
  cudaGraphDestroy(captured);
  YUBA_RETURN_IF_ERROR(status);
  return std::unique_ptr<runtime::RecordedStep>(std::move(step));
}

void GraphRecorder::Abandon() {
  for (CudaDevice* device : devices_) device->EndRecording();
  const absl::StatusOr<cudaGraph_t> captured = EndCapture();
  if (captured.ok() && *captured != nullptr) cudaGraphDestroy(*captured);
  cudaGetLastError();  // forgets what the capture's end says of what has failed in it
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
