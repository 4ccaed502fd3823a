#include "search/check_relaxed.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "opsemantics/box_factors.h"

namespace yuba {
namespace {

using Parts = std::vector<int>;
using Large = __int128;

// All ways to give the axes of the mesh to extents; unless of a copy, no axis is left that fits.
std::vector<Parts> EveryGrid(const Mesh& mesh, const std::vector<int64_t>& extents,
                             const std::vector<bool>& whole, bool copy) {
  std::map<int, int> axes;
  for (const MeshAxis& axis : mesh.axes) ++axes[axis.size];
  // One extent after the other; with each list of parts goes what is left of the axes.
  std::vector<std::pair<Parts, std::map<int, int>>> partial = {{{}, axes}}, next;
  for (size_t e = 0; e < extents.size(); ++e) {
    next.clear();
    for (const auto& [parts, left] : partial) {
      std::vector<std::pair<int64_t, std::map<int, int>>> here = {{1, left}};
      for (const auto& size_count : axes) {
        const int size = size_count.first;
        for (size_t i = 0, end = here.size(); i < end; ++i) {
          auto more = here[i];
          while (!whole[e] && more.second[size] > 0 && more.first * size <= extents[e]) {
            more.first *= size;
            --more.second[size];
            here.push_back(more);
          }
        }
      }
      for (auto& [count, rest] : here) {
        next.push_back({parts, std::move(rest)});
        next.back().first.push_back(static_cast<int>(count));
      }
    }
    partial.swap(next);
  }
  std::vector<Parts> grids;
  for (const auto& [parts, left] : partial) {
    bool full = true;
    for (size_t e = 0; e < extents.size() && !copy; ++e) {
      for (const auto& [size, count] : left) {
        if (count > 0 && !whole[e] && int64_t{parts[e]} * size <= extents[e]) full = false;
      }
    }
    if (full) grids.push_back(parts);
  }
  std::sort(grids.begin(), grids.end());
  return grids;
}

std::vector<Parts> EveryTensorGrid(const Mesh& mesh, const Tensor& tensor) {
  const std::vector<int64_t>& dims = tensor.type.dims;
  return EveryGrid(mesh, dims, std::vector<bool>(dims.size(), false),
                   tensor.kind == TensorKind::kCopy);
}

std::vector<Parts> EveryNodeGrid(const Mesh& mesh, const Definition& definition, bool copy) {
  std::vector<int64_t> extents;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  std::vector<bool> whole(extents.size(), true);
  for (int index : CuttableIndices(definition)) whole[index] = false;
  return EveryGrid(mesh, extents, whole, copy);
}

int64_t Total(const Parts& parts) {
  int64_t product = 1;
  for (int count : parts) product *= count;
  return product;
}

// How often each value occurs, the greatest first.
struct Spread {
  Spread() : counts(1, std::make_pair(int64_t{1}, int64_t{1})) {}

  std::vector<std::pair<int64_t, int64_t>> counts;
  int64_t number = 1;

  void Sort() {
    std::sort(counts.rbegin(), counts.rend());
    size_t kept = 0;
    for (size_t i = 1; i < counts.size(); ++i) {
      if (counts[i].first == counts[kept].first) {
        counts[kept].second += counts[i].second;
      } else {
        counts[++kept] = counts[i];
      }
    }
    counts.resize(kept + 1);
  }

  static Spread Of(const std::vector<int64_t>& values) {
    Spread spread;
    spread.counts.clear();
    for (int64_t value : values) spread.counts.push_back({value, 1});
    spread.number = static_cast<int64_t>(values.size());
    spread.Sort();
    return spread;
  }
  Large Sum() const {
    Large sum = 0;
    for (const auto& [value, count] : counts) sum += Large{value} * count;
    return sum;
  }
  int64_t Most() const { return counts.front().first; }
  Spread Times(const Spread& other) const {
    Spread product;
    product.counts.clear();
    for (const auto& [a, times_a] : counts) {
      for (const auto& [b, times_b] : other.counts)
        product.counts.push_back({a * b, times_a * times_b});
    }
    product.number = number * other.number;
    product.Sort();
    return product;
  }
};

// What both may share in one factor.
struct Shared {
  Spread by_part, by_piece;
  bool either = false;          // one dimension, of equal means: each of the two is a bound alone
  Large mean = 0, mean_of = 0;  // the fraction of the second bound, where there is one

  void Summarise() {
    if (either) {
      sum = by_part.Sum();
      number = by_part.number;
      most = std::min(by_part.Most(), by_piece.Most());
      return;
    }
    sum = by_part.Sum() * by_piece.Sum();
    number = by_part.number * by_piece.number;
    most = by_part.Most() * by_piece.Most();
    parts_vary = by_part.counts.size() > 1;
    pieces_vary = by_piece.counts.size() > 1;
  }
  Large sum = 1;  // of both multiplied, over `number` devices that are independent
  int64_t number = 1, most = 1;
  bool parts_vary = false, pieces_vary = false;  // where it must be both
};

// The pieces of one factor for one way to cut its indices.
struct Pieces {
  int64_t number = 1;
  int64_t volume = 0;
  std::vector<BoxFactors::Piece> all;
};

Pieces PiecesOf(const Definition& definition, const BoxFactors& boxes, int factor,
                const Parts& parts) {
  Pieces pieces;
  const BoxFactor& shape = boxes.factors()[factor];
  pieces.number = Total(parts);
  for (int64_t piece = 0; piece < pieces.number; ++piece) {
    std::vector<Interval> ranges(parts.size());
    int64_t rest = piece;
    for (size_t i = 0; i < parts.size(); ++i) {
      ranges[i] = PartOf(definition.indices[shape.indices[i]].extent, parts[i], rest % parts[i]);
      rest /= parts[i];
    }
    pieces.all.push_back(boxes.Of(factor, ranges));
    if (!pieces.all.back().empty) pieces.volume += Volume(pieces.all.back().box);
  }
  return pieces;
}

Shared SharedOf(const std::vector<int64_t>& extents, const Parts& parts, const Pieces& pieces) {
  Shared shared;
  std::vector<int64_t> of_pieces(pieces.number, 1);
  for (int64_t q = 0; q < pieces.number; ++q) of_pieces[q] = pieces.all[q].empty ? 0 : 1;
  bool vary = extents.empty();
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<int64_t> part_most(parts[d], 0), piece_most(pieces.number, 0);
    for (int64_t q = 0; q < pieces.number; ++q) {
      if (pieces.all[q].empty || extents[d] == 0) continue;
      const Interval need = pieces.all[q].box[d];
      // Parts near the ends of the need; those between are inside.
      int64_t first = std::max<int64_t>(0, need.begin * parts[d] / extents[d] - 1);
      for (int64_t t = first; t < parts[d]; ++t) {
        const Interval part = PartOf(extents[d], parts[d], t);
        if (part.begin >= need.end) break;
        int64_t both = std::min(part.end, need.end) - std::max(part.begin, need.begin);
        part_most[t] = std::max(part_most[t], both);
        piece_most[q] = std::max(piece_most[q], both);
      }
    }
    Spread by_part = Spread::Of(part_most), by_piece = Spread::Of(piece_most);
    Large left = by_part.Sum() * by_piece.number, right = by_piece.Sum() * by_part.number;
    if (left == right && extents.size() == 1) {
      shared.either = true;
      shared.by_part = by_part;
      shared.by_piece = by_piece;
    } else if (left <= right) {
      shared.by_part = shared.by_part.Times(by_part);
    } else {
      vary = true;
      for (int64_t q = 0; q < pieces.number; ++q) of_pieces[q] *= piece_most[q];
    }
  }
  if (vary && !shared.either) shared.by_piece = Spread::Of(of_pieces);
  if (extents.size() == 1) {
    int64_t common = std::gcd<int64_t>(parts[0], pieces.number);
    if (common != parts[0] && common != pieces.number) {
      shared.mean = Large{common} * pieces.volume;
      shared.mean_of = Large{parts[0]} * pieces.number;
    }
  }
  shared.Summarise();
  return shared;
}

// The sum over the devices when greatest meets greatest.
int64_t SortedAlike(int64_t devices, const Spread& a, const Spread& b) {
  auto x = a.counts.begin();
  auto y = b.counts.begin();
  Large sum = 0;
  int64_t left_x = x->second * b.number, left_y = y->second * a.number;
  while (true) {
    int64_t both = std::min(left_x, left_y);
    sum += Large{x->first} * y->first * both;
    left_x -= both;
    left_y -= both;
    if (left_x == 0) {
      if (++x == a.counts.end()) break;
      left_x = x->second * b.number;
    }
    if (left_y == 0) {
      if (++y == b.counts.end()) break;
      left_y = y->second * a.number;
    }
  }
  return static_cast<int64_t>(sum * devices / (Large{a.number} * b.number));
}

// Where both vary: the products sorted alike.
int64_t MostTogether(int64_t devices, const std::vector<const Shared*>& factors) {
  Spread by_part, by_piece;
  for (const Shared* shared : factors) {
    if (!shared->either) by_part = by_part.Times(shared->by_part);
    by_piece = by_piece.Times(shared->by_piece);
  }
  return SortedAlike(devices, by_part, by_piece);
}

int64_t MostShared(int64_t devices, const std::vector<const Shared*>& factors) {
  bool parts_vary = false, pieces_vary = false;
  Large sum = devices, number = 1;
  for (const Shared* shared : factors) {
    parts_vary |= shared->parts_vary;
    pieces_vary |= shared->pieces_vary;
    sum *= shared->sum;
    number *= shared->number;
  }
  // Where one of the two does not vary, the mean of the product is the product of the means.
  int64_t most = parts_vary && pieces_vary ? MostTogether(devices, factors)
                                           : static_cast<int64_t>(sum / number);
  for (const Shared* independent : factors) {
    if (independent->mean_of == 0) continue;
    Large bound = independent->mean * devices;
    for (const Shared* other : factors) {
      if (other != independent) bound *= other->most;
    }
    most = static_cast<int64_t>(std::min<Large>(most, bound / independent->mean_of));
  }
  return most;
}

// The table of one use.
class UseTable {
 public:
  UseTable(const Mesh& mesh, const Definition& definition, int operand,
           const std::vector<Parts>& tensor_grids)
      : definition_(definition),
        operand_(operand),
        devices_(mesh.devices()),
        type_(operand < 0 ? definition.result : definition.operands[operand]),
        tensor_grids_(tensor_grids),
        boxes_{BoxFactors(definition, operand, false),
               BoxFactors(definition, operand, operand < 0)} {
    for (bool partial : {false, true}) {
      for (const BoxFactor& factor : boxes_[partial].factors()) {
        rows_[partial].push_back(RowsOf(factor));
      }
      columns_[partial].resize(rows_[partial].size());
    }
  }

  // Appends the costs of one node grid with every tensor grid.
  void Append(const Parts& node, std::vector<int64_t>* cost) {
    int64_t reductions = 1;
    for (size_t i = 0; i < node.size(); ++i) {
      if (definition_.indices[i].reduction) reductions *= node[i];
    }
    const bool partial = operand_ < 0 && reductions > 1;
    const int64_t elements = ElementCount(type_);
    const std::vector<BoxFactor> none;
    const std::vector<BoxFactor>& factors = type_.dims.empty() ? none : boxes_[partial].factors();
    Large held = operand_ < 0 ? Total(node) : devices_, pieces = 1;
    std::vector<const Column*> columns;
    for (size_t f = 0; f < factors.size(); ++f) {
      columns.push_back(&ColumnOf(partial, f, node));
      held *= columns[f]->pieces.volume;
      pieces *= columns[f]->pieces.number;
    }
    held /= pieces;  // by all devices, or by the first makers
    const ElementType moved = partial ? AccumulatorType(type_.type) : type_.type;
    std::vector<const Shared*> shared(factors.size());
    for (size_t t = 0; t < tensor_grids_.size(); ++t) {
      for (size_t f = 0; f < factors.size(); ++f) {
        shared[f] = &columns[f]->shared[rows_[partial][f].kind[t]];
      }
      int64_t kept = MostShared(devices_, shared);
      if (partial) kept = std::min(kept, elements);  // only homes keep what they have made
      Large owners = devices_ / Total(tensor_grids_[t]), expected = held;
      if (partial)
        expected = held + (owners - 1) * elements;
      else if (operand_ < 0)
        expected = held * owners;
      cost->push_back(static_cast<int64_t>(std::max<Large>(0, expected - kept)) * ByteSize(moved));
    }
  }

 private:
  Parts Of(const std::vector<int>& which, const Parts& parts) const {
    Parts some;
    for (int i : which) some.push_back(parts[i]);
    return some;
  }

  // The parts of one factor's dimensions, by tensor grid.
  struct Rows {
    std::vector<Parts> kinds;
    std::vector<int> kind;
  };
  Rows RowsOf(const BoxFactor& factor) const {
    Rows rows;
    for (const Parts& tensor : tensor_grids_) {
      Parts parts = Of(factor.dims, tensor);
      auto place = std::find(rows.kinds.begin(), rows.kinds.end(), parts);
      rows.kind.push_back(static_cast<int>(place - rows.kinds.begin()));
      if (place == rows.kinds.end()) rows.kinds.push_back(std::move(parts));
    }
    return rows;
  }

  // The pieces of one factor, and what each kind of parts shares with them.
  struct Column {
    Pieces pieces;
    std::vector<Shared> shared;
  };
  const Column& ColumnOf(bool partial, size_t f, const Parts& node) {
    const BoxFactor& factor = boxes_[partial].factors()[f];
    Parts parts = Of(factor.indices, node);
    auto [place, is_new] = columns_[partial][f].emplace(parts, Column());
    Column& column = place->second;
    if (!is_new) return column;
    column.pieces = PiecesOf(definition_, boxes_[partial], static_cast<int>(f), parts);
    std::vector<int64_t> extents;
    for (int d : factor.dims) extents.push_back(type_.dims[d]);
    for (const Parts& kind : rows_[partial][f].kinds) {
      column.shared.push_back(SharedOf(extents, kind, column.pieces));
    }
    return column;
  }

  const Definition& definition_;
  const int operand_;
  const int64_t devices_;
  const TensorType& type_;
  const std::vector<Parts>& tensor_grids_;
  const BoxFactors boxes_[2];                        // of all of a reduction, and of a part
  std::vector<Rows> rows_[2];                        // by factor
  std::vector<std::map<Parts, Column>> columns_[2];  // by factor
};

}  // namespace

bool CutAlike(const Graph& graph, const Node& a, const Node& b) {
  const Definition &here = *a.definition, &other = *b.definition;
  if (IsCopy(graph, a) != IsCopy(graph, b)) return false;
  if (&other != &here && !(other.result == here.result && other == here)) return false;
  for (size_t o = 0; o < a.operands.size(); ++o) {
    bool is_copy = graph.tensors[a.operands[o]].kind == TensorKind::kCopy;
    if (is_copy != (graph.tensors[b.operands[o]].kind == TensorKind::kCopy)) return false;
  }
  return true;
}

RelaxedTables MakeRelaxedTables(const Graph& graph, const Mesh& mesh) {
  RelaxedTables tables;
  // By dimensions, and whether they are a copy's.
  std::map<std::pair<std::vector<int64_t>, bool>, std::vector<Parts>> tensor_grids;
  const auto grids_of = [&](TensorId id) -> std::vector<Parts>& {
    const Tensor& tensor = graph.tensors[id];
    return tensor_grids[{tensor.type.dims, tensor.kind == TensorKind::kCopy}];
  };
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    std::vector<Parts>& grids = grids_of(static_cast<TensorId>(t));
    if (grids.empty()) grids = EveryTensorGrid(mesh, graph.tensors[t]);
    tables.tensors.push_back(static_cast<int>(grids.size()));
  }
  std::vector<size_t> first;  // by node: its first use
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    first.push_back(tables.uses.size());
    size_t alike = 0;  // the first node of the same grids and costs
    while (alike < n && !CutAlike(graph, graph.nodes[alike], node)) ++alike;
    std::vector<Parts> grids;
    if (alike == n) grids = EveryNodeGrid(mesh, *node.definition, IsCopy(graph, node));
    tables.nodes.push_back(alike < n ? tables.nodes[alike] : static_cast<int>(grids.size()));
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      RelaxedTables::Use use;
      use.node = static_cast<int>(n);
      use.tensor = o < 0 ? node.result : node.operands[o];
      if (alike < n) {
        use.cost = tables.uses[first[alike] + o + 1].cost;
      } else {
        std::vector<int64_t> cost;
        UseTable table(mesh, *node.definition, o, grids_of(use.tensor));
        for (const Parts& grid : grids) table.Append(grid, &cost);
        use.cost = std::make_shared<const std::vector<int64_t>>(std::move(cost));
      }
      tables.uses.push_back(std::move(use));
    }
  }
  return tables;
}

}  // namespace yuba
