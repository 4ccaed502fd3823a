// Training on ranks, as threads on fake GPUs: what steps leave has the bits of virtual devices of
// one process where sums are in order, and always in hash arithmetic; else nearly the same numbers.

#ifdef YUBA_WITH_CUDA
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

#include "opsemantics/base/status.h"
#include "runtime/program/check_streams.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/ranks/run_job.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

using Program = std::shared_ptr<const runtime::LoadedProgram>;
using Values = std::map<std::string, TensorData>;

// The outputs after three steps on numbers that are made up, and the trained parameters.
absl::StatusOr<Values> Trained(const Program& program, const runtime::RunOptions& options) {
  YUBA_ASSIGN_OR_RETURN(const auto session, runtime::Session::Open(program, options));
  YUBA_RETURN_IF_ERROR(session->Randomize(3));
  for (int step = 0; step < 3; ++step) YUBA_RETURN_IF_ERROR(session->Step());
  Values values;
  for (const program::Port& port : program->message().outputs()) {
    YUBA_ASSIGN_OR_RETURN(values[port.name()], session->Get(port.name()));
  }
  for (const program::Initializer& parameter : program->message().parameters()) {
    if (!parameter.trainable()) continue;
    YUBA_ASSIGN_OR_RETURN(values["parameter " + parameter.port().name()],
                          session->GetBuffer(parameter.port().buffer()));
  }
  return values;
}

// What each rank has: the same.
Values TrainedOnRanks(const Program& program, Sums sums) {
  std::vector<absl::StatusOr<Values>> values(program->devices(), absl::UnknownError("not run"));
  std::vector<runtime::RankFacts> facts = runtime::FactsOfRanks(program->devices());
  for (runtime::RankFacts& rank : facts) rank.host = "node";
  runtime::LocalNetwork network(program->devices());
  runtime::RunJob(network, facts, runtime::Long(), [&](runtime::Job& job) {
    runtime::RunOptions options = OnCuda();
    options.job = &job;
    options.cuda.sums = sums;
    values[job.rank()] = Trained(program, options);
    if (values[job.rank()].ok()) return 0;
    job.Fail(values[job.rank()].status());
    return 3;
  });
  unsetenv("NCCL_ALGO");
  unsetenv("NCCL_NVLS_ENABLE");
  for (const auto& each : values) {
    REQUIRE_THAT(each, IsOk());
    for (const auto& [name, value] : *each) REQUIRE(value.data == values[0]->at(name).data);
  }
  return *values[0];
}

// The largest difference of f32 as a share of the largest number of the same tensor.
double Apart(const Values& a, const Values& b) {
  double apart = 0;
  for (const auto& [name, value] : a) {
    const std::string& other = b.at(name).data;
    REQUIRE(value.data.size() == other.size());
    if (value.type != ElementType::kF32) continue;
    double difference = 0, largest = 0;
    for (size_t at = 0; at < other.size(); at += sizeof(float)) {
      float x = 0, y = 0;
      std::memcpy(&x, value.data.data() + at, sizeof x);
      std::memcpy(&y, other.data() + at, sizeof y);
      difference = std::max<double>(difference, std::abs(x - y));
      largest = std::max<double>(largest, std::abs(x));
    }
    if (largest > 0) apart = std::max(apart, difference / largest);
  }
  return apart;
}

TEST_CASE("Training on ranks leaves what virtual devices leave, in any kind of sums") {
  const std::string folder = ScratchFolder("training_ranks");
  const std::string yuba = RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ";
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx") + " ";
  const std::string plan = folder + "/p.json ", file = folder + "/p.yuba";
  for (const int devices : {2, 3, 8}) {
    for (const bool hash : {false, true}) {
      INFO(devices << " devices" << (hash ? ", in hash arithmetic" : ""));
      Succeed(yuba + "partition " + model + "--devices " + std::to_string(devices) +
              " --train sgd --loss mse --lr 0.01 -o " + plan);
      Succeed(yuba + "compile " + model + plan + "--target cuda " +
              (hash ? "--hash-arithmetic " : "") + "-o " + file);
      const auto loaded = runtime::LoadedProgram::FromFile(file);
      REQUIRE_THAT(loaded, IsOk());
      REQUIRE(program::HasStreams((*loaded)->message()));
      OnFakes fakes(1);
      const absl::StatusOr<Values> expected = Trained(*loaded, OnCuda());
      REQUIRE_THAT(expected, IsOk());
      REQUIRE(expected->size() > 2);
      Fake().gpus = devices;
      for (const Sums sums : {Sums::kOrdered, Sums::kRepeatable, Sums::kFast}) {
        INFO(Name(sums));
        const int64_t before = Fake().reduce_scatters + Fake().all_reduces;
        const Values found = TrainedOnRanks(*loaded, sums);
        CHECK(Apart(*expected, found) < 1e-5);
        const bool by_nccl = Fake().reduce_scatters + Fake().all_reduces > before;
        CHECK(by_nccl == (hash || sums != Sums::kOrdered));
        if (!hash && sums != Sums::kOrdered) continue;
        for (const auto& [name, value] : found) CHECK(value.data == expected->at(name).data);
      }
    }
  }
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
