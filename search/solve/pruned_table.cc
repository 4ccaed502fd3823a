#include "search/solve/pruned_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace yuba::search {

Members::Members(const Domain& domain, const Classes& classes)
    : values(classes.count), orbits(classes.count, 0), of(classes.of), label(domain.size) {
  std::vector<int> least = OrbitRepresentatives(domain);
  std::vector<bool> is_least(domain.size, false);
  for (int value : least) {
    is_least[value] = true;
    ++orbits[of[value]];
    values[of[value]].push_back(value);
  }
  for (int value = 0; value < domain.size; ++value) {
    if (!is_least[value]) values[of[value]].push_back(value);
  }
  for (const std::vector<int>& list : values) {
    for (size_t i = 0; i < list.size(); ++i) label[list[i]] = static_cast<int>(i);
  }
  for (const std::vector<int>& list : values) {
    images.emplace_back();
    for (const std::vector<int>& image : domain.images) {
      images.back().emplace_back();
      for (int value : list) images.back().back().push_back(label[image[value]]);
    }
  }
}

PrunedTable Labelled(const Factor& factor, const std::vector<int>& scope,
                     const std::vector<MembersPtr>& members) {
  PrunedTable table;
  table.cells.reserve(factor.cells->size());
  const Members& last = *members[scope.back()];
  auto close = [&](size_t begin) {
    table.place.push_back(static_cast<int64_t>(begin));
    table.least.push_back(*std::min_element(table.cells.begin() + begin, table.cells.end()));
  };
  if (scope.size() == 1) {
    for (const std::vector<int>& values : last.values) {
      const size_t begin = table.cells.size();
      for (int value : values) table.cells.push_back((*factor.cells)[value]);
      close(begin);
    }
    return table;
  }
  const Members& first = *members[scope[0]];
  const bool straight = factor.scope == scope;
  const int64_t first_stride = straight ? static_cast<int64_t>(last.of.size()) : 1;
  const int64_t last_stride = straight ? 1 : static_cast<int64_t>(first.of.size());
  for (const std::vector<int>& rows : first.values) {
    for (const std::vector<int>& columns : last.values) {
      const size_t begin = table.cells.size();
      for (int row : rows) {
        for (int column : columns) {
          table.cells.push_back((*factor.cells)[row * first_stride + column * last_stride]);
        }
      }
      close(begin);
    }
  }
  return table;
}

namespace {

constexpr int64_t kWorkBetweenLooks = int64_t{1} << 20;  // at the budget: about 1 ms

class Joining {
 public:
  Joining(const JoinInput& input, int64_t* work)
      : input_(input), work_(work), rank_(static_cast<int>(input.joint.size()) - 1) {
    for (const TableAt& met : input.tables) {
      Source source;
      source.table = met.table;
      source.places = met.places;
      source.class_strides.assign(met.places.size(), 1);
      for (size_t i = met.places.size() - 1; i-- > 0;) {
        int next = met.places[i + 1];
        source.class_strides[i] = source.class_strides[i + 1] * Classes(next);
      }
      source.strides.assign(met.places.size(), 1);
      sources_.push_back(std::move(source));
    }
    ready_.resize(rank_ + 1);
    for (size_t s = 0; s < sources_.size(); ++s) {
      const std::vector<int>& places = sources_[s].places;
      ready_[places.size() < 2 ? 0 : places[places.size() - 2] + 1].push_back(static_cast<int>(s));
    }
    label_.assign(rank_, 0);
    sums_.resize(rank_ + 1);
    rest_.assign(rank_ + 1, 0);
  }

  PrunedTable Run() {
    const int64_t tuples = static_cast<int64_t>(input_.up->size());
    result_.place.assign(tuples, -1);
    result_.least.assign(tuples, kTooDear);
    class_.assign(rank_ + 1, 0);
    int64_t look = *work_ - kWorkBetweenLooks;
    for (int64_t tuple = 0; tuple < tuples && *work_ >= 0; ++tuple) {
      if (*work_ < look) {
        look = *work_ - kWorkBetweenLooks;
        if (input_.budget->ShouldStop()) *work_ = -1;
      }
      if ((*input_.up)[tuple] + (*input_.down)[tuple] <= input_.limit) OneTuple(tuple);
      for (int d = rank_; d-- > 0;) {
        if (++class_[d] < Classes(d)) break;
        class_[d] = 0;
      }
    }
    return std::move(result_);
  }

 private:
  struct Source {
    const PrunedTable* table;
    std::vector<int> places;
    std::vector<int64_t> class_strides, strides;
    int64_t least = 0;
    const int64_t* block = nullptr;
  };

  int Classes(int place) const { return static_cast<int>(input_.joint[place]->values.size()); }
  int Labels(int place) const {
    return static_cast<int>(input_.joint[place]->values[class_[place]].size());
  }

  // The block of one assignment of classes to the scope.
  void OneTuple(int64_t tuple) {
    const int64_t begin = static_cast<int64_t>(result_.cells.size());
    budget_ = input_.limit - (*input_.down)[tuple];
    bool any = false;
    for (int c = 0; c < Classes(rank_); ++c) {
      class_[rank_] = c;
      if (!Open()) continue;
      if (!any && !AddBlock()) {
        *work_ = -1;
        return;
      }
      any = true;
      block_ = result_.cells.data() + begin;
      sums_[0].assign(Labels(rank_), 0);
      for (int s : ready_[0]) AddRow(sources_[s], &sums_[0]);
      Labelling(0, 0);
    }
    *work_ -= Classes(rank_);
    if (!any) return;
    auto first = result_.cells.begin() + begin;
    int64_t least = *std::min_element(first, result_.cells.end());
    if (least > budget_) {
      result_.cells.resize(begin);
      return;
    }
    result_.place[tuple] = begin;
    result_.least[tuple] = least;
    FillOrbits(result_.cells.data() + begin);
  }

  // Finds the tables' blocks for the current classes; false where their sum is above the budget.
  bool Open() {
    int64_t sum = 0;
    for (Source& source : sources_) {
      int64_t at = 0;
      for (size_t i = 0; i < source.places.size(); ++i) {
        at += class_[source.places[i]] * source.class_strides[i];
      }
      if (source.table->place[at] < 0) return false;
      source.block = source.table->cells.data() + source.table->place[at];
      source.least = source.table->least[at];
      sum += source.least;
    }
    if (sum > budget_) return false;
    for (Source& source : sources_) {
      for (size_t i = source.places.size() - 1; i-- > 0;) {
        source.strides[i] = source.strides[i + 1] * Labels(source.places[i + 1]);
      }
    }
    for (int level = rank_; level >= 0; --level) {
      rest_[level] = level == rank_ ? 0 : rest_[level + 1];
      if (level == rank_) continue;
      for (int s : ready_[level + 1]) rest_[level] += sources_[s].least;
    }
    return true;
  }

  // Adds a block to the result; false where there is no room for it.
  bool AddBlock() {
    const int64_t room = input_.most_cells - static_cast<int64_t>(result_.cells.size());
    int64_t cells = 1;
    strides_.assign(rank_, 1);
    for (int d = rank_; d-- > 0;) {
      strides_[d] = cells;
      if (Labels(d) > room / cells) return false;  // so that nothing overflows
      cells *= Labels(d);
    }
    if (cells > room) return false;
    result_.cells.resize(result_.cells.size() + cells, kTooDear);
    return true;
  }

  void AddRow(const Source& source, std::vector<int64_t>* sum) const {
    const int64_t* row = source.block;
    for (size_t i = 0; i + 1 < source.places.size(); ++i) {
      row += label_[source.places[i]] * source.strides[i];
    }
    for (int64_t& cell : *sum) cell += *row++;
  }

  // Runs through all labels of the places from `level` on. sums_[level]: the sum of the tables that
  // depend on places before it alone.
  void Labelling(int level, int64_t at) {
    const std::vector<int64_t>& sum = sums_[level];
    int64_t least = *std::min_element(sum.begin(), sum.end());
    if (least + rest_[level] > budget_) return;
    if (level == rank_) {
      block_[at] = std::min(block_[at], least);
      return;
    }
    int count = level == 0 ? input_.joint[0]->orbits[class_[0]] : Labels(level);
    *work_ -= int64_t{count} * static_cast<int64_t>(sum.size());
    for (int label = 0; label < count; ++label) {
      label_[level] = label;
      sums_[level + 1] = sum;
      for (int s : ready_[level + 1]) AddRow(sources_[s], &sums_[level + 1]);
      Labelling(level + 1, at + label * strides_[level]);
    }
  }

  // Copies the cells of the labels that were tried to those that symmetries map them to.
  void FillOrbits(int64_t* block) {
    if (rank_ == 0) return;
    const int orbits = input_.joint[0]->orbits[class_[0]];
    const size_t symmetries = input_.joint[0]->images[0].size();
    for (size_t g = 1; g < symmetries; ++g) {
      for (int label = 0; label < orbits; ++label) {
        int image = input_.joint[0]->images[class_[0]][g][label];
        FillFrom(block, g, 1, label * strides_[0], image * strides_[0]);
      }
    }
  }

  void FillFrom(int64_t* block, size_t g, int d, int64_t from, int64_t to) {
    if (d == rank_) {
      block[to] = block[from];
      return;
    }
    const std::vector<int>& image = input_.joint[d]->images[class_[d]][g];
    for (size_t label = 0; label < image.size(); ++label) {
      FillFrom(block, g, d + 1, from + static_cast<int64_t>(label) * strides_[d],
               to + image[label] * strides_[d]);
    }
  }

  const JoinInput& input_;
  int64_t* work_;
  const int rank_;  // of the result
  std::vector<Source> sources_;
  std::vector<std::vector<int>> ready_;  // by level: sources whose last place but one is level - 1
  PrunedTable result_;
  std::vector<int> class_, label_;  // by place
  std::vector<int64_t> strides_;    // of the block of the result
  int64_t budget_ = 0;
  int64_t* block_ = nullptr;
  std::vector<std::vector<int64_t>> sums_;  // by level
  std::vector<int64_t> rest_;               // by level: the least of the tables not yet added
};

}  // namespace

PrunedTable Join(const JoinInput& input, int64_t* work) { return Joining(input, work).Run(); }

}  // namespace yuba::search
