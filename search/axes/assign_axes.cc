#include "search/axes/assign_axes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "search/axes/axis_pool.h"
#include "search/model/ties.h"
#include "search/rewrite/canonical.h"

namespace yuba::search {
namespace {

// Tables of 2^22 cells move GPT-2 small and Llama-3-8B on 64 devices no less and take 4 s more.
constexpr Effort kTied = {6, 4, 20'000, int64_t{1} << 18, true};
constexpr Effort kUntied = {2, 2, 50'000};
constexpr int kIdle = 2;                       // rounds without a gain
constexpr int64_t kMostSteps = 2'000'000'000;  // products summed for new costs: then no new round

// A cost that is not worth improving.
int64_t Enough(const AxisOptions& options) { return options.bound + options.bound / 100'000; }

// Variables are alike where they choose from equal spaces under equal pins.
VariableMap VariablesOf(const AxisProblem& problem) {
  std::map<std::tuple<std::vector<int64_t>, std::vector<bool>, bool, std::string>, int> known;
  VariableMap variables = {problem.variable, {}};
  for (const AxisVariable& variable : problem.variables) {
    const ChoiceSpace& space = variable.space;
    const auto next = static_cast<int>(known.size());
    const auto key =
        std::make_tuple(space.extents, space.cuttable, space.optional, Key(variable.restriction));
    variables.alike.push_back(known.emplace(key, next).first->second);
  }
  return variables;
}

}  // namespace

namespace {

// Each axis once more after the last whose move made the plan cheaper.
void MoveAxes(const AxisProblem& problem, const AxisOptions& options, AxisSearch* search) {
  const auto axes = static_cast<uint8_t>(options.mesh.axes.size());
  for (uint8_t axis = 0, idle = 0; idle < axes; axis = (axis + 1) % axes, ++idle) {
    if (search->Cost() <= Enough(options) || options.budget->ShouldStop()) return;
    if (!MoveAxis(problem, axis, options.table_cells, *options.budget, search)) continue;
    search->Descend();
    idle = 0;
  }
}

}  // namespace

void Refine(const AxisProblem& problem, const Effort& effort, const AxisOptions& options,
            std::vector<std::vector<int>> starts, AxisSearch* search) {
  std::vector<int> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (std::vector<int>& start : starts) {
    search->SetAll(start);
    search->Descend();
    start = search->choices();
    if (search->Cost() >= least) continue;
    least = search->Cost();
    best = start;
  }
  const int64_t enough = Enough(options);
  search->SetAll(best);
  int idle = 0;
  for (int round = 0; round < effort.rounds && idle < kIdle && least > enough; ++round) {
    if (search->store().steps() > kMostSteps || options.budget->ShouldStop()) break;
    const int64_t before = least;
    std::vector<std::vector<int>> found;
    for (int run = 0; run < effort.runs; ++run) {
      search->SetAll(run % 2 == 0 ? starts[run / 2 % starts.size()] : best);
      search->Kick(effort.work);
      found.push_back(search->choices());
      if (search->Cost() >= least) continue;
      least = search->Cost();
      best = search->choices();
    }
    search->SetAll(best);
    if (least <= enough) break;
    while (ChooseAmong(problem, found, std::min(effort.table_cells, options.table_cells),
                       *options.budget, search)) {
      search->Descend();
    }
    best = search->choices();
    least = search->Cost();
    idle = least < before ? 0 : idle + 1;
  }
  if (effort.moves) MoveAxes(problem, options, search);
}

namespace {

class Assigner {
 public:
  // All arguments must outlive this.
  Assigner(const Graph& graph, const AxisOptions& options, const std::vector<TensorUse>& uses,
           const std::vector<std::vector<Grid>>& grids, const Restrictions& restrictions)
      : graph_(graph),
        options_(options),
        store_(options.mesh),
        problem_(MakeAxisProblem(graph, uses, grids, &store_, false, restrictions)),
        search_(problem_, options.mesh, options.nesting, *options.budget, &store_) {}

  Choices Run(int period) {
    const VariableMap variables = VariablesOf(problem_);
    SearchTied(OfOneStructure(variables));
    SearchTied(KindsOf(problem_));
    if (period > 0) {
      SearchTied(TiedVariables(variables, NextRepetition(graph_, variables), period));
    }
    std::vector<std::vector<int>> starts = {search_.choices()};
    for (const Choices& start : options_.starts) starts.push_back(NumbersOf(start));
    Refine(problem_, kUntied, options_, std::move(starts), &search_);
    return ChoicesOfElements(problem_, search_.choices(), &store_);
  }

 private:
  // Searches with the variables of one number tied, from the choices so far. Where there are none,
  // it begins from the grids twice, as the likeliest grids fit together, but perhaps no axes of
  // theirs do, and where each choice may leave its grid for its neighbours' sake, axes agree
  // better; and from each of the options' starts.
  void SearchTied(const std::vector<int>& numbers) {
    const AxisProblem tied = Tied(problem_, numbers);
    AxisSearch alike(tied, options_.mesh, options_.nesting, *options_.budget, &store_);
    std::vector<std::vector<int>> starts;
    if (search_.choices()[0] >= 0) {
      for (size_t v = numbers.size(); v-- > 0;) alike.Set(numbers[v], search_.choices()[v]);
      starts.push_back(alike.choices());
    } else {
      for (const bool likeliest_grids : {true, false}) {
        alike.SetAll(std::vector<int>(tied.variables.size(), -1));
        alike.Start(likeliest_grids);
        starts.push_back(alike.choices());
      }
      for (const Choices& start : options_.starts) {
        const std::vector<int> choices = NumbersOf(start);
        for (size_t v = numbers.size(); v-- > 0;) alike.Set(numbers[v], choices[v]);
        starts.push_back(alike.choices());
      }
    }
    Refine(tied, kTied, options_, std::move(starts), &alike);
    for (size_t v = 0; v < numbers.size(); ++v) {
      search_.Set(static_cast<int>(v), alike.choices()[numbers[v]]);
    }
  }

  // [variable]: a number, equal where the choices to be made are and elements have one structure,
  // wherever they are: all steps of a recurrence, and all layers of one size. Of so few variables
  // MoveAxis is exact, and finds that all of them should cut another dimension; from there the
  // others begin. Without, of training steps with adam, RNN-10-8K moves 4.8 % more on 8 devices,
  // Llama-3-8B 1.2 % more on 64.
  std::vector<int> OfOneStructure(const VariableMap& variables) const {
    std::vector<int> alike;
    for (const int v : variables.variable) alike.push_back(variables.alike[v]);
    const std::vector<uint64_t> hashes = SurroundingHashes(graph_, 0, alike);
    std::map<uint64_t, int> known;
    std::vector<int> numbers;
    for (const int element : problem_.elements) {
      const auto next = static_cast<int>(known.size());
      numbers.push_back(known.emplace(hashes[element], next).first->second);
    }
    return numbers;
  }

  // By variable: its number in the store, where elements have these choices.
  std::vector<int> NumbersOf(const Choices& choices) {
    std::vector<int> numbers;
    for (const int element : problem_.elements) numbers.push_back(store_.Number(choices[element]));
    return numbers;
  }

  const Graph& graph_;
  const AxisOptions& options_;
  ChoiceStore store_;
  AxisProblem problem_;
  AxisSearch search_;
};

}  // namespace

Choices AssignAxes(const Graph& graph, const AxisOptions& options,
                   const std::vector<TensorUse>& uses, const std::vector<std::vector<Grid>>& grids,
                   const Restrictions& restrictions, int period) {
  return Assigner(graph, options, uses, grids, restrictions).Run(period);
}

}  // namespace yuba::search
