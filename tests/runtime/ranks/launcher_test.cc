// Who a process is, from the variables that launchers leave.
#include "runtime/ranks/launcher.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

using Variables = std::map<std::string, std::string>;

absl::StatusOr<absl::optional<Launched>> Of(const Variables& variables) {
  return LaunchedBy([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

Variables operator+(Variables left, const Variables& right) {
  left.insert(right.begin(), right.end());
  return left;
}

// "mpirun 1 of 2, here 1 of 2, openmpi, job"
std::string TextOf(const Variables& variables) {
  const auto launched = Of(variables);
  if (!launched.ok()) return launched.status().ToString();
  if (!launched->has_value()) return "none";
  const Launched& found = **launched;
  return absl::StrCat(found.launcher, " ", found.rank, " of ", found.size, ", here ",
                      found.local_rank, " of ", found.local_size, ", ", found.transport, ", ",
                      found.job);
}

const Variables kOwn = {{"YUBA_RANK", "2"}, {"YUBA_RANKS", "3"}, {"YUBA_MEET", "/tmp/a"}};
const Variables kTorchrun = {{"TORCHELASTIC_RUN_ID", "none"},
                             {"TORCHELASTIC_RESTART_COUNT", "1"},
                             {"MASTER_ADDR", "127.0.0.1"},
                             {"MASTER_PORT", "29500"},
                             {"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "4"}};
const Variables kOpenMpi = {
    {"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "2"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
    {"PMIX_NAMESPACE", "123/1"},         {"PMIX_RANK", "1"}};
const Variables kMpich = {
    {"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "3"}};
const Variables kBatch = {
    {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}, {"SLURM_JOB_ID", "7"}};
const Variables kStep = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_ID", "0"}};

TEST_CASE("each launcher says which rank this is, and what fits it") {
  CHECK(TextOf({}) == "none");
  CHECK(TextOf(kOwn) == "--ranks 2 of 3, here 2 of 3, gloo, /tmp/a");
  CHECK(TextOf(kTorchrun) == "torchrun 5 of 8, here 1 of 4, gloo, torchrun-29500-1-none");
  CHECK(TextOf(kOpenMpi) == "mpirun 1 of 2, here 0 of 1, openmpi, mpirun-123-1");
  CHECK(TextOf(kMpich) == "mpiexec 0 of 3, here 0 of 3, mpich, ");
  CHECK(TextOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}) == "mpiexec 0 of 3, here -1 of -1, mpich, ");
  CHECK(TextOf(kBatch + kStep) == "srun 0 of 4, here 0 of -1, gloo, srun-7-0");
  CHECK(TextOf(kBatch + kStep + Variables{{"PMIX_RANK", "0"}}) ==
        "srun 0 of 4, here 0 of -1, openmpi, srun-7-0");
  CHECK(TextOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}) == "mpiexec 0 of 1, here -1 of -1, mpich, ");
}

TEST_CASE("mpirun, mpiexec and torchrun end all ranks with the first that fails") {
  const auto ends_all = [](const Variables& variables) { return (*Of(variables))->ends_all; };
  CHECK(ends_all(kTorchrun));
  CHECK(ends_all(kOpenMpi));
  CHECK(ends_all(kMpich));
  CHECK_FALSE(ends_all(kOwn));
  CHECK_FALSE(ends_all(kBatch + kStep));
}

TEST_CASE("who meets without a launcher's help is told where, by --ranks and by torchrun") {
  const auto meeting = [](const Variables& variables) { return Of(variables).value()->meeting; };
  CHECK(meeting(kOwn) == "/tmp/a");
  const Variables agents = {{"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  CHECK(meeting(kTorchrun + agents) == "tcp://127.0.0.1:29500/torchrun-29500-1-none");
  CHECK(meeting(Variables{{"MASTER_ADDR", "::1"}} + kTorchrun + agents) ==
        "tcp://[::1]:29500/torchrun-29500-1-none");
  // The port is for rank 0 to listen at.
  CHECK(meeting(kTorchrun).empty());
  CHECK(meeting(kBatch + kStep).empty());
}

TEST_CASE("the innermost launcher counts") {
  Variables all = kBatch;
  CHECK(TextOf(all) == "none");  // a batch script by itself
  const std::vector<std::pair<Variables, std::string>> inward = {{kStep, "srun 0 of 4"},
                                                                 {kMpich, "mpiexec 0 of 3"},
                                                                 {kOpenMpi, "mpirun 1 of 2"},
                                                                 {kTorchrun, "torchrun 5 of 8"},
                                                                 {kOwn, "--ranks 2 of 3"}};
  for (const auto& [variables, text] : inward) {
    all.insert(variables.begin(), variables.end());
    CHECK(TextOf(all).rfind(text, 0) == 0);
  }
  Variables exported = kTorchrun;
  exported.erase("TORCHELASTIC_RUN_ID");
  CHECK(TextOf(exported) == "none");  // anybody exports RANK
  CHECK(TextOf(exported + kMpich).rfind("mpiexec 0 of 3", 0) == 0);
}

TEST_CASE("where launchers say different things, it is said which one counts") {
  CHECK(Of(kTorchrun + kOpenMpi).value()->note ==
        "torchrun (RANK=5, WORLD_SIZE=8) counts, not mpirun (OMPI_COMM_WORLD_RANK=1, "
        "OMPI_COMM_WORLD_SIZE=2)");
  CHECK(Of(kOpenMpi).value()->note.empty());
  CHECK(Of(kOpenMpi + kBatch + kStep).value()->note.empty());  // srun starts mpirun's daemons
  CHECK(Of(kOpenMpi + Variables{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}).value()->note.empty());
  CHECK(Of(kOpenMpi + Variables{{"PMI_RANK", "1"}}).value()->note.empty());
}

TEST_CASE("what is no rank of any size is an error that names the variable") {
  const auto error = [](const Variables& variables) {
    const auto launched = Of(variables);
    CHECK_THAT(launched, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(launched.status().message());
  };
  const auto mpich = [&](const std::string& rank, const std::string& size) {
    return error({{"PMI_RANK", rank}, {"PMI_SIZE", size}});
  };
  CHECK_THAT(error({{"PMI_RANK", "1"}}), Catch::StartsWith("PMI_SIZE is not set, but PMI_RANK is"));
  CHECK_THAT(error({{"PMI_SIZE", "1"}}), Catch::StartsWith("PMI_RANK is not set, but PMI_SIZE is"));
  CHECK_THAT(error({{"PMI_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
             Catch::StartsWith("OMPI_COMM_WORLD_RANK is not set, but OMPI_COMM_WORLD_SIZE is"));
  CHECK_THAT(error({{"TORCHELASTIC_RUN_ID", "x"}}),
             Catch::StartsWith("RANK is not set, but TORCHELASTIC_RUN_ID is"));
  CHECK_THAT(error({{"SLURM_STEP_NUM_TASKS", "2"}}),
             Catch::StartsWith("SLURM_PROCID is not set, but SLURM_STEP_NUM_TASKS is"));
  CHECK_THAT(error({{"YUBA_RANK", "0"}, {"YUBA_RANKS", "2"}}),
             Catch::StartsWith("YUBA_MEET is not set, but YUBA_RANK is"));
  CHECK_THAT(mpich("x", "2"), Catch::StartsWith("PMI_RANK=x of mpiexec is no number from 0 on"));
  CHECK_THAT(mpich("", "2"), Catch::StartsWith("PMI_RANK= of mpiexec is no number from 0 on"));
  CHECK_THAT(mpich("-1", "2"), Catch::StartsWith("PMI_RANK=-1 of mpiexec is no number from 0 on"));
  CHECK_THAT(mpich("0", "2x"), Catch::StartsWith("PMI_SIZE=2x of mpiexec is no number from 1 on"));
  CHECK_THAT(mpich("0", "0"), Catch::StartsWith("PMI_SIZE=0 of mpiexec is no number from 1 on"));
  CHECK_THAT(mpich("0", "99999999999"), Catch::StartsWith("PMI_SIZE=99999999999 of mpiexec is no"));
  CHECK_THAT(mpich("2", "2"),
             Catch::StartsWith("PMI_RANK=2 of mpiexec is out of range, as PMI_SIZE=2"));
  Variables local = kMpich;
  local["MPI_LOCALRANKID"] = "3";
  CHECK_THAT(error(local), Catch::StartsWith("MPI_LOCALRANKID=3 of mpiexec is out of range"));
}

TEST_CASE("the name of a job is one of a file") {
  Variables variables = kTorchrun;
  variables["TORCHELASTIC_RUN_ID"] = "../../a b\n" + std::string(500, 'x');
  const std::string job = Of(variables).value()->job;
  CHECK(job.size() < 250);
  CHECK(job.rfind("torchrun-29500-1-..-..-a-b-xxx", 0) == 0);
  CHECK(job.find('/') == std::string::npos);
}

}  // namespace
}  // namespace yuba::runtime
