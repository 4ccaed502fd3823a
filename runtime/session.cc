#include "runtime/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "runtime/backend.h"
#include "runtime/initial_values.h"
#include "runtime/machine_limits.h"
#include "runtime/set_values.h"

namespace yuba::runtime {
namespace {

bool HasLibraryCalls(const LoadedProgram& program) {
  const auto& functions = program.message().functions();
  return std::any_of(functions.begin(), functions.end(),
                     [](const program::Function& function) { return function.has_library(); });
}

std::atomic<bool> something_hangs{false};

}  // namespace

bool SomethingHangs() { return something_hangs; }

absl::Status Session::WhyLost() const {
  if (executor_ != nullptr && !executor_->lost().ok()) return executor_->lost();
  for (const int device : OwnDevices(*fleet_))
    YUBA_RETURN_IF_ERROR(fleet_->devices[device]->Usable());
  return absl::OkStatus();
}

absl::Status Session::CheckUsable() const {
  if (options_.job != nullptr) YUBA_RETURN_IF_ERROR(options_.job->ended());
  return Annotate(WhyLost(), "the session has ended");
}

Session::~Session() {
  const bool may_be_freed = fleet_->communicator == nullptr || fleet_->communicator->MayBeFreed();
  if (WhyLost().ok() && may_be_freed) return;
  something_hangs = !WhyLost().ok();
  // Threads and GPUs go on using them.
  executor_.release();
  fleet_.release();
  new std::shared_ptr<const LoadedProgram>(program_);
}

int DefaultThreads(int devices) {
  const char* const set = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  if (set == nullptr || !absl::SimpleAtoi(set, &threads) || threads < 1) {
    threads = static_cast<int>(OwnProcessors().size());
  }
  return std::max(1, std::min(threads, kMostThreadsPerDevice) / devices);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Open(std::shared_ptr<const LoadedProgram> program,
                                                       const RunOptions& options) {
  std::unique_ptr<Session> session(new Session);
  YUBA_CHECK(program->has_values()) << "the program's values were dropped";
  session->program_ = std::move(program);
  session->options_ = options;
  const LoadedProgram& loaded = *session->program_;
  YUBA_RETURN_IF_ERROR(CheckValueFiles(loaded.message()));
  session->run_.assign(loaded.entries().size(), false);
  session->layout_ = options.guards ? SpreadLayout(loaded) : PlannedLayout(loaded);
  int& threads = session->statistics_.threads_per_device;
  threads = options.interleave ? 1
            : options.threads_per_device > 0
                ? std::min(options.threads_per_device, kMostThreadsPerDevice)
            : options.job != nullptr ? std::min(options.job->OwnProcessors(), kMostThreadsPerDevice)
                                     : DefaultThreads(loaded.devices());
  if (session->options_.timeout_seconds <= 0)
    session->options_.timeout_seconds = DefaultTimeout(options.backend);
  YUBA_RETURN_IF_ERROR(OpenBackend(
      options.backend, loaded, session->layout_,
      {threads, session->options_.timeout_seconds, options.cuda, options.job}, *session->fleet_));
  if (options.job != nullptr) {
    options.job->SetDescribe(
        [program = session->program_](int instruction) { return program->WhatDoes(instruction); });
  }
  YUBA_RETURN_IF_ERROR(session->PlanExchanges());
  YUBA_RETURN_IF_ERROR(session->AddWatchers());
  session->executor_ = std::make_unique<Executor>(loaded, *session->fleet_, options.trace);
  YUBA_RETURN_IF_ERROR(session->SetInitialValues());
  // Last: by now the session holds what it needs, and threads get what is left.
  if (!options.interleave) {
    YUBA_RETURN_IF_ERROR(CheckThreads(static_cast<int>(OwnDevices(*session->fleet_).size()),
                                      threads, HasLibraryCalls(loaded)));
  }
  return session;
}

absl::Status Session::AddWatchers() {
  std::vector<Device*> devices;
  for (const auto& device : fleet_->devices) devices.push_back(device.get());
  if (options_.poison || options_.guards) {
    auto watch = std::make_unique<ArenaWatch>(
        *program_, layout_, WatchOptions{options_.poison, options_.guards}, devices);
    YUBA_RETURN_IF_ERROR(watch->Fill());
    fleet_->watchers.push_back(std::move(watch));
  }
  if (options_.find_nan) {
    auto watch = std::make_unique<NanWatch>(*program_, layout_, std::move(devices), fleet_->plans);
    nan_watch_ = watch.get();
    fleet_->watchers.push_back(std::move(watch));
  }
  return absl::OkStatus();
}

absl::Status Session::PlanExchanges() {
  fleet_->plans.resize(program_->instructions().size());
  // A guard looks at memory between instructions, when each has written what it is to write.
  const bool watched = options_.poison || options_.guards || options_.find_nan;
  for (size_t p = 0; p < fleet_->plans.size(); ++p) {
    if (!program_->instructions()[p].has_exchange()) continue;
    const program::Exchange& exchange = program_->instructions()[p].exchange();
    ExchangePlan& plan = fleet_->plans[p];
    if (options_.recognise && exchange.collective() != 0) {
      YUBA_ASSIGN_OR_RETURN(plan, PlanCollective(*program_, exchange));
    } else {
      plan = PlanExchange(*program_, exchange);
    }
    plan.source_offset = layout_.offsets[exchange.source()];
    plan.destination_offset = layout_.offsets[exchange.destination()];
    plan.joins = program_->instructions()[p].joins() && !watched;
    plan.entry = program::EntryOf(program_->entries(), static_cast<int>(p));
  }
  return fleet_->communicator->Prepare(fleet_->plans);
}

absl::Status Session::SetInitialValues() {
  for (const program::Initializer& initializer : program_->message().parameters()) {
    const program::Port& port = initializer.port();
    YUBA_ASSIGN_OR_RETURN(const std::unique_ptr<ValueSource> source,
                          SourceOf(initializer, program_->type(port.buffer())));
    if (source == nullptr && !initializer.has_fill()) continue;
    const absl::Status set =
        source != nullptr ? SetElements(*program_, layout_, *fleet_, port.buffer(),
                                        program_->type(port.buffer()), *source)
                          : SetFill(*program_, layout_, *fleet_, port.buffer(), initializer.fill());
    YUBA_RETURN_IF_ERROR(Annotate(set, absl::StrCat("parameter ", port.name())));
    given_.insert(port.name());
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Session::FindEntry(const std::string& name) const {
  const std::vector<program::EntryRange>& entries = program_->entries();
  for (size_t e = 0; e < entries.size(); ++e) {
    const bool wanted = name.empty() ? entries[e].name != program::kInitEntry || entries.size() == 1
                                     : entries[e].name == name;
    if (wanted) return static_cast<int>(e);
  }
  return UserError("the program has no entry ", name, "; it has ",
                   absl::StrJoin(entries, ", ", [](std::string* out, const auto& entry) {
                     out->append(entry.name);
                   }));
}

absl::Status Session::RunInitIfDue() {
  const absl::StatusOr<int> init = FindEntry(program::kInitEntry);
  return init.ok() && !run_[*init] ? Run(*init) : absl::OkStatus();
}

absl::Status Session::Step(const std::string& entry_name) {
  YUBA_ASSIGN_OR_RETURN(const int entry, FindEntry(entry_name));
  const bool is_init = program_->entries()[entry].name == program::kInitEntry;
  if (!is_init) YUBA_RETURN_IF_ERROR(RunInitIfDue());
  return Run(entry);
}

absl::Status Session::Run(int entry) {
  YUBA_RETURN_IF_ERROR(CheckUsable());
  std::vector<std::string> missing = MissingFor(entry);
  if (!missing.empty()) return NoValuesFor(std::move(missing));
  const auto start = std::chrono::steady_clock::now();
  if (nan_watch_ != nullptr) nan_watch_->BeginStep();
  const absl::Status status =
      options_.interleave
          ? executor_->RunInterleaved(entry, options_.interleave_seed, options_.timeout_seconds)
          : executor_->RunThreads(entry, options_.timeout_seconds);
  if (!status.ok() && !executor_->lost().ok()) {
    return absl::Status(status.code(), absl::StrCat(status.message(), "; the session has ended"));
  }
  YUBA_RETURN_IF_ERROR(status);
  statistics_.seconds = SecondsSince(start);
  if (!options_.interleave) {
    const Executor::Times& times = executor_->times();
    statistics_.copy_share = times.copying / times.all;
    statistics_.wait_share = times.waiting / times.all;
    const auto own = static_cast<double>(OwnDevices(*fleet_).size());
    for (int k = 0; k < kKernelClasses; ++k) statistics_.kernel_seconds[k] = times.kernels[k] / own;
    statistics_.copy_seconds = times.copying / own;
    statistics_.wait_seconds = times.waiting / own;
  }
  ++statistics_.steps;
  run_[entry] = true;
  if (nan_watch_ != nullptr) YUBA_RETURN_IF_ERROR(nan_watch_->EndStep());
  return CheckCaches(program_->entries()[entry].name);
}

absl::Status Session::CheckCaches(const std::string& entry) {
  if (program_->hash()) return absl::OkStatus();
  for (const program::Initializer& count : program_->message().parameters()) {
    if (count.cache_rows() == 0) continue;
    YUBA_ASSIGN_OR_RETURN(const std::string element,
                          Gather(count.port().buffer(), Gathered::kEverywhere));
    int64_t rows = 0;
    std::memcpy(&rows, element.data(), sizeof rows);
    if (rows <= count.cache_rows()) continue;
    return UserError("after this run of ", entry, " the caches would hold ", rows, " rows (",
                     count.port().name(), "), and they have ", count.cache_rows(),
                     ": plan the model with a larger --cache PAST=PRESENT:LENGTH");
  }
  return absl::OkStatus();
}

// What a device has of a buffer, as it lies there; read here or received by the first rank.
absl::StatusOr<std::string> Session::ReadShard(int buffer, int device) {
  const int64_t bytes =
      Volume(program_->BufferBox(buffer, device)) * program_->ElementBytes(buffer);
  std::string shard(static_cast<size_t>(bytes), 0);
  if (fleet_->devices[device] == nullptr) {
    YUBA_RETURN_IF_ERROR(options_.job->Receive(device, &shard[0], bytes));
  } else {
    YUBA_RETURN_IF_ERROR(fleet_->devices[device]->Read(layout_.offsets[buffer], &shard[0], bytes));
  }
  return shard;
}

absl::StatusOr<std::string> Session::Gather(int buffer, Gathered gathered) {
  YUBA_RETURN_IF_ERROR(CheckUsable());
  const int64_t size = program_->ElementBytes(buffer);
  const Box whole = WholeBox(program_->ShapeDims(buffer));
  const DimOrder order = program_->OrderOf(buffer);
  std::string elements;
  if (IsFirstRank()) elements.resize(static_cast<size_t>(program_->WholeElements(buffer) * size));
  std::vector<Box> seen;
  for (int device = 0; device < program_->devices(); ++device) {
    const Box box = program_->ShapeBox(buffer, device);
    // Of devices that have the same box, one says what is in it.
    if (IsEmpty(box) || std::count(seen.begin(), seen.end(), box) > 0) continue;
    seen.push_back(box);
    if (!IsFirstRank()) {
      if (fleet_->devices[device] == nullptr) continue;
      YUBA_ASSIGN_OR_RETURN(const std::string shard, ReadShard(buffer, device));
      YUBA_RETURN_IF_ERROR(options_.job->Send(0, shard));
      continue;
    }
    const BoxWalk walk = WalkOf(box, {box, whole}, {order, DimOrder()});
    YUBA_ASSIGN_OR_RETURN(const std::string shard, ReadShard(buffer, device));
    CopyWalk(walk, shard.data(), &elements[0], size);
  }
  if (options_.job == nullptr || gathered == Gathered::kByFirstRank) return elements;
  return options_.job->FromFirst(elements);
}

absl::StatusOr<TensorData> Session::GetBuffer(int buffer, Gathered gathered) {
  TensorData tensor;
  const ElementType type = program_->type(buffer);
  tensor.type = program_->hash() && IsFloat(type) ? ElementType::kI64 : type;
  tensor.dims = program_->ShapeDims(buffer);
  YUBA_ASSIGN_OR_RETURN(tensor.data, Gather(buffer, gathered));
  return tensor;
}

absl::Status Session::CheckComputed(const program::Port& output) const {
  if (program_->message().buffers(output.buffer()).initialized()) return absl::OkStatus();
  const std::vector<bool> computed_by =
      program::EntriesThatUse(program_->message(), output.buffer());
  std::string entry;
  for (size_t e = 0; e < run_.size(); ++e) {
    if (!computed_by[e]) continue;
    if (run_[e]) return absl::OkStatus();
    entry = program_->entries()[e].name;
  }
  if (entry.empty()) return absl::OkStatus();  // no instruction writes it: it is what it was
  return UserError("output ", output.name(), " has no value yet: run entry ", entry, " first");
}

absl::StatusOr<TensorData> Session::Get(const std::string& name, Gathered gathered) {
  for (const program::Port& port : program_->message().outputs()) {
    if (port.name() != name) continue;
    YUBA_RETURN_IF_ERROR(CheckComputed(port));
    YUBA_ASSIGN_OR_RETURN(TensorData tensor, GetBuffer(port.buffer(), gathered));
    tensor.dims.assign(port.shape().begin(), port.shape().end());
    return tensor;
  }
  return UserError("the program has no output ", name);
}

absl::Status Session::GatherTraces() {
  Job* const job = options_.job;
  if (job == nullptr) return absl::OkStatus();
  const auto bytes_of = [](std::vector<TraceEvent>& events) {
    return absl::string_view(reinterpret_cast<const char*>(events.data()),
                             events.size() * sizeof(TraceEvent));
  };
  for (int device = 1; device < job->size(); ++device) {
    std::vector<TraceEvent>& events = executor_->trace(device);
    int64_t count = static_cast<int64_t>(events.size());
    const absl::string_view size(reinterpret_cast<const char*>(&count), sizeof count);
    if (device == job->rank()) {
      YUBA_RETURN_IF_ERROR(job->Send(0, size));
      YUBA_RETURN_IF_ERROR(job->Send(0, bytes_of(events)));
    } else if (IsFirstRank()) {
      YUBA_RETURN_IF_ERROR(job->Receive(device, reinterpret_cast<char*>(&count), sizeof count));
      events.resize(static_cast<size_t>(count));
      const absl::string_view room = bytes_of(events);
      YUBA_RETURN_IF_ERROR(job->Receive(device, reinterpret_cast<char*>(events.data()),
                                        static_cast<int64_t>(room.size())));
    }
  }
  return absl::OkStatus();
}

Statistics Session::statistics() const {
  Statistics statistics = statistics_;
  statistics.arena_bytes = layout_.size;
  statistics.bytes_in.resize(program_->devices());
  statistics.bytes_out.resize(program_->devices());
  for (int device = 0; device < program_->devices(); ++device) {
    const Traffic& traffic = fleet_->communicator->traffic(device);
    for (size_t p = 0; p < traffic.received.size(); ++p) {
      if (traffic.received[p] == 0) continue;
      statistics.bytes_by_instruction[static_cast<int>(p)] += traffic.received[p];
      statistics.bytes_in[device] += traffic.received[p];
      statistics.bytes += traffic.received[p];
    }
    for (int source = 0; source < program_->devices(); ++source) {
      statistics.bytes_out[source] += traffic.received_from[source];
    }
    const Device* const own = fleet_->devices[device].get();
    if (own == nullptr) continue;
    statistics.workspace_bytes = std::max(statistics.workspace_bytes, own->workspace_bytes());
    statistics.library_calls += own->library_calls();
  }
  statistics.workspace_bytes += fleet_->communicator->workspace_bytes();
  statistics.groups = fleet_->communicator->groups();
  statistics.sums = fleet_->communicator->sums();
  return statistics;
}

}  // namespace yuba::runtime
