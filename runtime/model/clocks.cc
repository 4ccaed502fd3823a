#include "runtime/model/clocks.h"

#include <algorithm>
#include <limits>
#include <map>

#include "opsemantics/base/check.h"

namespace yuba::runtime {
namespace {

// Ends this close to each other, as a share of the time, are one.
constexpr double kSameTime = 1e-12;

}  // namespace

void Clocks::Start(Task task) {
  if (task.kind == Task::kCompute && processors_ == 0) task.kind = Task::kAlone;
  if (task.kind == Task::kAlone) {
    alone_.emplace(now_ + task.work, task.owner);
    return;
  }
  shared_.push_back({std::move(task)});
  shared_.back().left = shared_.back().task.work;
  changed_ = true;
}

void Clocks::SetSpeeds() {
  std::map<int, double> on_host;  // by process: tasks
  double threads = 0;             // that want a processor
  std::vector<LinkUse> flows;
  for (const Running& running : shared_) {
    const Task& task = running.task;
    const double devices = list_.class_sizes[task.of_class];
    if (task.kind == Task::kHost) {
      on_host[list_.process_of[task.of_class]] += list_.in_process[task.of_class];
    }
    if (task.kind == Task::kCompute) threads += devices * task.processors;
    if (task.kind == Task::kFlow) {
      threads += devices;
      flows.push_back(task.links);
    }
  }
  const double share = processors_ > 0 && threads > processors_ ? processors_ / threads : 1;
  const std::vector<double> rates = FairRates(flows, capacities_);
  size_t flow = 0;
  for (Running& running : shared_) {
    const Task& task = running.task;
    if (task.kind == Task::kHost) running.speed = 1 / on_host[list_.process_of[task.of_class]];
    if (task.kind == Task::kCompute) running.speed = task.processors * share;
    if (task.kind == Task::kFlow) running.speed = rates[flow++] * share;
  }
  changed_ = false;
}

std::vector<int> Clocks::Next() {
  YUBA_CHECK(!idle()) << "nothing goes on";
  if (changed_) SetSpeeds();
  double end = alone_.empty() ? std::numeric_limits<double>::infinity() : alone_.top().first;
  for (const Running& running : shared_) end = std::min(end, now_ + running.left / running.speed);
  const double same = end * (1 + kSameTime);
  std::vector<int> ended;
  while (!alone_.empty() && alone_.top().first <= same) {
    ended.push_back(alone_.top().second);
    alone_.pop();
  }
  const double passed = end - now_;
  const auto goes_on = [&](Running& running) {
    if (now_ + running.left / running.speed > same) {
      running.left -= passed * running.speed;
      return true;
    }
    ended.push_back(running.task.owner);
    return false;
  };
  const auto rest = std::stable_partition(shared_.begin(), shared_.end(), goes_on);
  changed_ |= rest != shared_.end();
  shared_.erase(rest, shared_.end());
  now_ = end;
  std::sort(ended.begin(), ended.end());
  return ended;
}

}  // namespace yuba::runtime
