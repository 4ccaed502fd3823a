#include "runtime/model/simulate.h"

#include <algorithm>
#include <deque>

#include "opsemantics/base/check.h"
#include "runtime/model/clocks.h"

namespace yuba::runtime {
namespace {

// What runs the instructions of a class one after the other: the thread of the host that starts
// them, and the streams on which they run.
enum Track { kHostThread, kCompute, kExchange, kTracks };

// Where a track is in its instruction.
enum class Phase : uint8_t {
  kBegin,       // waits for what the other stream does before it
  kQueued,      // waits until the host has started it
  kStarting,    // of a kernel: what one processor prepares
  kRunning,     // the kernel; the host's part of any instruction
  kArrived,     // of an exchange from here on: waits for those that it reads
  kLatency,     // of the messages over one kind of links
  kFlowing,     // their bytes
  kLocal,       // what is copied within the device
  kCollective,  // what a library does instead of the last three
  kCopied       // waits for those that read it
};

struct Line {
  Track track = kCompute;
  int of_class = 0;
  std::vector<int> steps;  // in order
  size_t at = 0;
  Phase phase = Phase::kBegin;
  double since = 0;  // when the phase began
  int kind = 0;      // of links, in kLatency and kFlowing
  // Steps that are behind it, for those who wait: how far it has come, arrived and copied.
  int done = -1, arrived = -1, copied = -1;
};

class Simulator {
 public:
  Simulator(const StepList& list, const Machine& machine, const RunPolicy& policy, bool keep)
      : list_(list),
        machine_(machine),
        policy_(policy),
        keep_(keep),
        streams_(policy.exchange_stream && list.two_streams),
        hosts_(machine.device.issue > 0 && machine.device.processors == 0),
        clocks_(list, Capacities(), machine.device.processors) {
    times_.resize(list.classes());
    for (int c = 0; c < list.classes(); ++c) {
      for (int track = 0; track < kTracks; ++track) {
        Line line;
        line.track = static_cast<Track>(track);
        line.of_class = c;
        for (int s = 0; s < static_cast<int>(list.steps.size()); ++s) {
          if (OnTrack(s, line.track)) line.steps.push_back(s);
        }
        lines_.push_back(std::move(line));
      }
    }
    is_awake_.resize(lines_.size());
  }

  Simulation Run() {
    for (size_t l = 0; l < lines_.size(); ++l) Wake(static_cast<int>(l));
    Settle();
    while (!clocks_.idle()) {
      for (const int line : clocks_.Next()) {
        EndPhase(lines_[line]);
        Wake(line);
      }
      Settle();
    }
    Simulation result;
    for (const Line& line : lines_) {
      YUBA_CHECK(line.at == line.steps.size())
          << "class " << line.of_class << " waits at step " << line.steps[line.at] << " for ever";
    }
    for (const ClassTimes& times : times_) result.seconds = std::max(result.seconds, times.end);
    result.classes = std::move(times_);
    return result;
  }

 private:
  // Links by number: of each kind for each group of like ports one that leaves and one that comes.
  std::vector<double> Capacities() {
    std::vector<double> capacities;
    for (size_t kind = 0; kind < machine_.links.size(); ++kind) {
      const std::vector<int>& ports = list_.port_of[kind];
      first_link_.push_back(static_cast<int>(capacities.size()));
      const int count = ports.empty() ? 0 : *std::max_element(ports.begin(), ports.end()) + 1;
      const LinkModel& link = machine_.links[kind];
      capacities.resize(capacities.size() + 2 * count, link.bandwidth * link.shared_by);
    }
    return capacities;
  }
  int LinkInto(int kind, int of_class) const {
    return first_link_[kind] + 2 * list_.port_of[kind][of_class];
  }
  int LinkOutOf(int kind, int of_class) const { return LinkInto(kind, of_class) + 1; }

  bool OnTrack(int step, Track track) const {
    if (track == kHostThread) return hosts_;
    const bool apart = streams_ && list_.steps[step].exchange;
    return apart == (track == kExchange);
  }

  Line& LineOf(int of_class, Track track) { return lines_[of_class * kTracks + track]; }
  Track ExchangeTrack() const { return streams_ ? kExchange : kCompute; }
  const Step& StepOf(const Line& line) const { return list_.steps[line.steps[line.at]]; }
  const ExchangeTime& ExchangeOf(const Line& line) const {
    return list_.exchanges[StepOf(line).row][line.of_class];
  }
  const KernelTime& KernelOf(const Line& line) const {
    return list_.kernels[StepOf(line).row][line.of_class];
  }

  void Wake(int line) {
    if (is_awake_[line]) return;
    is_awake_[line] = true;
    awake_.push_back(line);
  }
  void Wake(const std::vector<int>& classes, Track track) {
    for (const int c : classes) Wake(c * kTracks + track);
  }

  // Lets all go on that can without time.
  void Settle() {
    while (!awake_.empty()) {
      Line& line = lines_[awake_.front()];
      is_awake_[awake_.front()] = false;
      awake_.pop_front();
      while (line.at < line.steps.size() && Advance(line)) {
      }
    }
  }

  void Enter(Line& line, Phase phase) {
    line.phase = phase;
    line.since = clocks_.now();
  }

  // What has taken time since the phase began. A stream of exchanges that is idle keeps nobody
  // waiting.
  void Note(const Line& line, bool waiting, double& sum) {
    const double begin = line.since, end = clocks_.now();
    if (!waiting || line.track == kCompute) sum += end - begin;
    if (!keep_ || end <= begin) return;
    times_[line.of_class].events.push_back({line.steps[line.at], waiting, begin, end});
  }

  bool AllThere(const std::vector<int>& classes, Track track, int Line::* far, int step) {
    return std::all_of(classes.begin(), classes.end(),
                       [&](int c) { return LineOf(c, track).*far >= step; });
  }

  // Moves a line on from a phase in which nothing goes on; false where it has to wait.
  bool Advance(Line& line) {
    const bool host = line.track == kHostThread;
    const int step = line.steps[line.at];
    switch (line.phase) {
      case Phase::kBegin: return host ? BeginOnHost(line) : Begin(line);
      case Phase::kQueued: return BeginWhenStarted(line);
      case Phase::kArrived:
        if (!AllThere(ExchangeOf(line).sources, host ? kHostThread : ExchangeTrack(),
                      &Line::arrived, step)) {
          return false;
        }
        if (host) {
          Copied(line, step);
          // The stream may copy from here on.
          LineOf(line.of_class, kHostThread).done = step;
          WakeStreams(line.of_class);
          return true;
        }
        Note(line, true, times_[line.of_class].waiting);
        BeginCopies(line);
        return true;
      case Phase::kCopied:
        if (!AllThere(ExchangeOf(line).readers, host ? kHostThread : ExchangeTrack(), &Line::copied,
                      step)) {
          return false;
        }
        if (!host) Note(line, true, times_[line.of_class].waiting);
        Finish(line, step);
        return true;
      default: return false;  // a clock runs
    }
  }

  bool BeginOnHost(Line& line) {
    Enter(line, Phase::kRunning);
    const bool nothing = !StepOf(line).exchange && !KernelOf(line).runs;
    Run(line, Task::kHost, nothing ? 0 : machine_.device.issue);
    return true;
  }

  bool Begin(Line& line) {
    const int after = StepOf(line).after;
    const Track other = line.track == kCompute ? kExchange : kCompute;
    if (streams_ && LineOf(line.of_class, other).done < after) return false;
    Note(line, true, times_[line.of_class].waiting);
    Enter(line, Phase::kQueued);
    return true;
  }

  bool BeginWhenStarted(Line& line) {
    const int step = line.steps[line.at];
    if (hosts_ && LineOf(line.of_class, kHostThread).done < step) return false;
    Note(line, true, times_[line.of_class].starting);
    if (list_.steps[step].exchange) {
      Enter(line, Phase::kArrived);
      line.arrived = step;
      Wake(ExchangeOf(line).readers, ExchangeTrack());
      return true;
    }
    Enter(line, Phase::kStarting);
    const double issue = machine_.device.processors > 0 ? machine_.device.issue : 0;
    const KernelTime& kernel = KernelOf(line);
    Run(line, Task::kCompute, kernel.runs ? issue + machine_.device.launch + kernel.start : 0);
    return true;
  }

  void BeginCopies(Line& line) {
    if (ExchangeOf(line).collective_seconds >= 0) {
      Enter(line, Phase::kCollective);
      // As it was measured, with its launch.
      Run(line, machine_.device.processors > 0 ? Task::kCompute : Task::kAlone,
          ExchangeOf(line).collective_seconds);
      return;
    }
    Enter(line, Phase::kLatency);
    line.kind = 0;
    const ExchangeTime& exchange = ExchangeOf(line);
    const bool copies = !exchange.inflows.empty() || exchange.local_bytes > 0;
    // Copies are started as kernels are, those of a group with its first ones.
    const bool starts = copies && !StepOf(line).joins;
    Run(line, Task::kCompute, (starts ? machine_.device.launch : 0) + Latency(line));
  }

  double Latency(const Line& line) const {
    if (StepOf(line).joins) return 0;
    double messages = 0;
    for (const Inflow& inflow : ExchangeOf(line).inflows) {
      if (inflow.kind == line.kind) messages += inflow.messages;
    }
    return messages * machine_.links[line.kind].latency;
  }

  // A clock of the line has run down.
  void EndPhase(Line& line) {
    const int step = line.steps[line.at];
    ClassTimes& times = times_[line.of_class];
    switch (line.phase) {
      case Phase::kRunning:
        if (line.track == kHostThread) return EndOnHost(line, step);
        Note(line, false, times.kernels[static_cast<int>(KernelOf(line).kernel_class)]);
        return Finish(line, step);
      case Phase::kStarting: {
        line.phase = Phase::kRunning;  // of one event with its preparation
        const KernelTime& kernel = KernelOf(line);
        return Run(line, Task::kCompute, kernel.seconds, kernel.processors);
      }
      case Phase::kLatency: line.phase = Phase::kFlowing; return Flow(line);
      case Phase::kFlowing:
        if (++line.kind < static_cast<int>(machine_.links.size())) {
          line.phase = Phase::kLatency;
          return Run(line, Task::kCompute, Latency(line));
        }
        line.phase = Phase::kLocal;
        return Run(line, Task::kCompute, ExchangeOf(line).local_bytes / machine_.device.bandwidth);
      case Phase::kLocal:
      case Phase::kCollective: Note(line, false, times.exchanges); return Copied(line, step);
      default: YUBA_CHECK(false) << "no clock runs";
    }
  }

  void EndOnHost(Line& line, int step) {
    if (list_.steps[step].exchange && policy_.hosts_wait) {
      Enter(line, Phase::kArrived);
      line.arrived = step;
      Wake(ExchangeOf(line).readers, kHostThread);
      return;
    }
    Finish(line, step);
  }

  void Copied(Line& line, int step) {
    Enter(line, Phase::kCopied);
    line.copied = step;
    Wake(ExchangeOf(line).sources, line.track == kHostThread ? kHostThread : ExchangeTrack());
  }

  void Finish(Line& line, int step) {
    line.done = step;
    ClassTimes& times = times_[line.of_class];
    times.end = std::max(times.end, clocks_.now());
    if (line.track == kCompute) times.kernels_end = clocks_.now();
    ++line.at;
    Enter(line, Phase::kBegin);
    WakeStreams(line.of_class);
  }

  void WakeStreams(int of_class) {
    Wake(of_class * kTracks + kCompute);
    if (streams_) Wake(of_class * kTracks + kExchange);
  }

  int NumberOf(const Line& line) const { return line.of_class * kTracks + line.track; }

  void Run(const Line& line, Task::Kind kind, double seconds, double processors = 1) {
    Task task;
    task.kind = kind;
    task.owner = NumberOf(line);
    task.of_class = line.of_class;
    task.work = seconds;
    task.processors = processors;
    clocks_.Start(std::move(task));
  }

  // The bytes that come over links of the line's kind, from all sources at once. Each link is used
  // by all members of the class that share a port, and what leaves a source goes to all members
  // that read it.
  void Flow(const Line& line) {
    Task task;
    task.owner = NumberOf(line);
    task.of_class = line.of_class;
    for (const Inflow& inflow : ExchangeOf(line).inflows) {
      if (inflow.kind == line.kind) task.work += inflow.bytes;
    }
    if (task.work == 0) return Run(line, Task::kAlone, 0);
    task.kind = Task::kFlow;
    const std::vector<int>& on_port = list_.on_port[line.kind];
    const double members = list_.class_sizes[line.of_class];
    task.links.emplace_back(LinkInto(line.kind, line.of_class), on_port[line.of_class]);
    for (const Inflow& inflow : ExchangeOf(line).inflows) {
      if (inflow.kind != line.kind || inflow.bytes == 0) continue;
      const double from_each =
          inflow.bytes / task.work * members / list_.class_sizes[inflow.source];
      task.links.emplace_back(LinkOutOf(line.kind, inflow.source),
                              from_each * on_port[inflow.source]);
    }
    clocks_.Start(std::move(task));
  }

  const StepList& list_;
  const Machine& machine_;
  const RunPolicy& policy_;
  const bool keep_;
  const bool streams_;           // exchanges have one of their own
  const bool hosts_;             // whether starting instructions takes the host time
  std::vector<int> first_link_;  // [kind]
  Clocks clocks_;
  std::vector<Line> lines_;        // [class * kTracks + track]
  std::deque<int> awake_;          // lines that may go on
  std::vector<bool> is_awake_;     // [line]
  std::vector<ClassTimes> times_;  // [class]
};

}  // namespace

Simulation Simulate(const StepList& list, const Machine& machine, const RunPolicy& policy,
                    bool keep_events) {
  return Simulator(list, machine, policy, keep_events).Run();
}

}  // namespace yuba::runtime
