#include "opsemantics/elaborate/sample_uses.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/elaborate/bind.h"

namespace yuba {
namespace {

constexpr int kTrials = 600;
constexpr int kTellingTrials = 200;

// Extents of any length, or all so long that every index can be cut.
enum class Extents : uint8_t { kAny, kLong };

// Draws one use after another. Whether a use elaborates, only the caller finds out.
class Drawer {
 public:
  Drawer(const OpDescription& op, Extents extents) : op_(op), long_(extents == Extents::kLong) {}

  SampleUse Draw() {
    features_.clear();
    DrawNames();
    SampleUse use;
    DrawAttributes(use);
    const ElementType shared = Below(5) == 0 ? ElementType::kI64 : ElementType::kF32;
    Note("shared type", Name(shared));
    for (const Param& param : op_.params) use.operands.push_back(DrawOperand(param, shared));
    return use;
  }

  // The features of the last use, as words; see SampleUses.
  const std::set<std::string>& features() const { return features_; }

  // Adds extents that shapes may leave open to the attributes: of packs only, or of all names.
  void GiveExtents(bool packs_only, SampleUse& use) const {
    for (const auto& [name, extents] : extents_) {
      const bool pack = packs_.count(name) != 0;
      if (use.attributes.count(name) != 0 || (packs_only && !pack)) continue;
      if (pack) {
        use.attributes[name] = extents;
      } else {
        use.attributes[name] = extents[0];
      }
    }
  }

 private:
  // A fixed sequence: the same uses on every machine.
  int64_t Below(int64_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(bound));
  }

  // `more` above a number that a description says, which may be any: the number alone at the end.
  static int64_t AtLeast(int64_t number, int64_t more) {
    int64_t sum = 0;
    return __builtin_add_overflow(number, more, &sum) ? number : sum;
  }

  void Note(absl::string_view what, absl::string_view how) {
    features_.insert(absl::StrCat(what, " ", how));
  }

  int64_t DrawExtent() {
    if (long_) return (Below(2) == 0 ? 8 : 24) + Below(9);
    constexpr int64_t kExtents[] = {1, 2, 3, 4, 4, 5, 5, 7, 8};
    return kExtents[Below(sizeof(kExtents) / sizeof(kExtents[0]))];
  }

  int DrawRank() { return static_cast<int>(long_ ? 1 + Below(2) : Below(3)); }

  // Extents of all names of the signature's dimensions, attributes among them.
  void DrawNames() {
    packs_.clear();
    extents_.clear();
    // Packs that are zipped have one rank: often all have the same, sometimes each its own.
    const bool same_rank = Below(3) != 0;
    rank_ = DrawRank();
    for (const Param& param : op_.params) {
      for (const Dim& dim : param.dims) {
        WalkSyntax(*dim.extent, [&](const Syntax& syntax) {
          if (syntax.kind == Syntax::kName) DrawName(syntax.name, dim.pack(), same_rank);
        });
      }
    }
  }

  void DrawName(const std::string& name, bool pack, bool same_rank) {
    std::vector<int64_t>& extents = extents_[name];
    if (!extents.empty() || packs_.count(name) != 0) return;
    int rank = 1;
    if (pack) {
      packs_.insert(name);
      rank = same_rank ? rank_ : DrawRank();
      Note(absl::StrCat("rank of ", name), absl::StrCat(rank));
    }
    for (int i = 0; i < rank; ++i) {
      extents.push_back(DrawExtent());
      if (extents.back() >= 4) {
        Note(absl::StrCat("extent of ", name), extents.back() % 2 == 0 ? "even" : "uneven");
      }
    }
  }

  // --- Attributes.

  void DrawAttributes(SampleUse& use) {
    for (const Attribute& attribute : op_.attributes) {
      const auto extents = extents_.find(attribute.name);
      if (extents != extents_.end()) {
        if (attribute.pack) {
          use.attributes[attribute.name] = extents->second;
        } else {
          extents->second[0] = (long_ ? 2 : 1) + Below(3);
          use.attributes[attribute.name] = extents->second[0];
        }
        continue;
      }
      const bool given = attribute.value == nullptr || Below(2) == 0;
      if (!given) {
        Note(absl::StrCat("attribute ", attribute.name), "by default");
        continue;
      }
      const AttributeValue value = DrawAttribute(attribute);
      NoteGiven(attribute, value);
      use.attributes[attribute.name] = value;
    }
  }

  // An empty list shows nothing; true and false are two features.
  void NoteGiven(const Attribute& attribute, const AttributeValue& value) {
    const auto* list = absl::get_if<std::vector<int64_t>>(&value);
    const auto* integer = absl::get_if<int64_t>(&value);
    if (list != nullptr && list->empty()) return;
    const bool truth = attribute.type == "bool" && integer != nullptr && *integer != 0;
    Note(absl::StrCat("attribute ", attribute.name), truth ? "true" : "given");
  }

  AttributeValue DrawAttribute(const Attribute& attribute) {
    if (attribute.type == "type") {
      constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kI64, ElementType::kI32};
      return kTypes[Below(3)];
    }
    if (attribute.type == "bool") return Below(2);
    if (attribute.type == "int") return Below(4);
    const Syntax* value = attribute.value.get();
    const bool integer = value != nullptr && value->kind == Syntax::kNumber && value->is_integer;
    if (attribute.pack) {
      std::vector<int64_t> list;
      for (int i = 0; i < rank_; ++i) {
        list.push_back(integer ? AtLeast(value->integer, Below(2) + Below(2)) : 1 + Below(4));
      }
      return list;
    }
    if (integer) return AtLeast(value->integer, Below(3));
    if (attribute.type == "float" || value != nullptr)
      return 0.25 * static_cast<double>(1 + Below(4));
    return 1 + Below(5);
  }

  // --- Operands.

  absl::optional<Shape> DrawOperand(const Param& param, ElementType shared) {
    if (param.role == Param::kOptional) {
      const bool absent = Below(2) == 0;
      Note(absl::StrCat("operand ", param.name), absent ? "absent" : "present");
      if (absent) return absl::nullopt;
    }
    Shape shape;
    shape.type = shared;
    if (param.type == "int") {
      shape.type = Below(4) == 0 ? ElementType::kI32 : ElementType::kI64;
    } else if (param.type == "float") {
      shape.type = ElementType::kF32;
    } else if (!param.type.empty()) {
      shape.type = *ElementTypeFromName(param.type);
    }
    for (const Dim& dim : param.dims) AddDims(param, dim, shape.dims);
    return shape;
  }

  void AddDims(const Param& param, const Dim& dim, std::vector<int64_t>& dims) {
    const Syntax& element = dim.element();
    const int rank = dim.pack() ? RankOf(element) : 1;
    int first = 0;
    if (dim.pack() && dim.broadcast && rank > 0 && !long_ && Below(4) == 0) {
      first = 1 + static_cast<int>(Below(rank));
      Note(absl::StrCat("operand ", param.name), "of lower rank");
    }
    for (int i = first; i < rank; ++i) {
      int64_t extent = 1;
      if (element.kind == Syntax::kFactors) {
        for (const SyntaxPtr& factor : element.args) {
          // A number of the description may be any; a product beyond int64 fits no signature.
          if (__builtin_mul_overflow(extent, ExtentOf(*factor, i), &extent)) extent = -1;
        }
      } else {
        extent = ExtentOf(element, i);
      }
      if (dim.broadcast && !long_ && Below(4) == 0) {
        extent = 1;
        Note(absl::StrCat("operand ", param.name), "broadcast");
      }
      dims.push_back(extent);
    }
  }

  int RankOf(const Syntax& element) const {
    int rank = 0;
    WalkSyntax(element, [&](const Syntax& syntax) {
      if (packs_.count(syntax.name) == 0) return;
      rank = static_cast<int>(extents_.at(syntax.name).size());
    });
    return rank;
  }

  int64_t ExtentOf(const Syntax& factor, int element) const {
    if (factor.kind != Syntax::kName) return factor.integer;
    const std::vector<int64_t>& extents = extents_.at(factor.name);
    const size_t at = packs_.count(factor.name) != 0 ? static_cast<size_t>(element) : 0;
    return at < extents.size() ? extents[at] : 1;
  }

  const OpDescription& op_;
  const bool long_;
  uint64_t state_ = 20190325;
  int rank_ = 0;
  std::set<std::string> packs_;
  std::map<std::string, std::vector<int64_t>> extents_;
  std::set<std::string> features_;
};

int64_t PointsOf(const Definition& definition) {
  int64_t points = 1;
  for (const Index& index : definition.indices) {
    if (__builtin_mul_overflow(points, index.extent, &points)) return int64_t{1} << 62;
  }
  return points;
}

bool IsSmall(const Instance& instance, int64_t points) {
  return std::all_of(instance.definitions.begin(), instance.definitions.end(),
                     [&](const SlotDefinition& definition) {
                       const int64_t count = PointsOf(definition.definition);
                       return count > 0 && count <= points;
                     });
}

// Why uses do not elaborate. Errors of uses whose operands fit the signature count more than
// others, and then those that occur most often.
class Failures {
 public:
  void Add(const absl::Status& status, bool bound) {
    // Below its first line a message has the place alone, whatever the extents are.
    const absl::string_view message = status.message();
    Failure& failure =
        failures_[std::string(message.substr(std::min(message.size(), message.find('\n'))))];
    if (failure.count == 0) failure.first = status;
    failure.bound |= bound;
    ++failure.count;
    if (main_ == nullptr ||
        std::make_pair(failure.bound, failure.count) > std::make_pair(main_->bound, main_->count)) {
      main_ = &failure;
    }
  }

  absl::Status Main() const { return main_->first; }

 private:
  struct Failure {
    bool bound = false;
    int count = 0;
    absl::Status first;
  };
  std::map<std::string, Failure> failures_;  // by place
  const Failure* main_ = nullptr;
};

// Tries the use as it is, then with extents that shapes leave open.
absl::optional<Instance> ElaborateDrawn(const OpDescription& op, const Drawer& drawer,
                                        SampleUse& use, Failures* failures) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (attempt > 0) drawer.GiveExtents(attempt == 1, use);
    absl::StatusOr<Instance> instance = Elaborate(op, use.operands, use.attributes);
    if (instance.ok()) return *std::move(instance);
    if (failures != nullptr)
      failures->Add(instance.status(), Bind(op, use.operands, use.attributes).ok());
  }
  return absl::nullopt;
}

}  // namespace

std::vector<SampleUse> SampleUses(const OpDescription& op, int most, int64_t points) {
  std::vector<SampleUse> uses;
  Drawer drawer(op, Extents::kAny);
  std::set<std::string> seen;
  for (int trial = 0; trial < kTrials && static_cast<int>(uses.size()) < most; ++trial) {
    SampleUse use = drawer.Draw();
    const std::set<std::string>& features = drawer.features();
    const bool news =
        std::any_of(features.begin(), features.end(),
                    [&](const std::string& feature) { return seen.count(feature) == 0; });
    if (!news && !uses.empty()) continue;
    const absl::optional<Instance> instance = ElaborateDrawn(op, drawer, use, nullptr);
    if (!instance.has_value() || !IsSmall(*instance, points)) continue;
    seen.insert(features.begin(), features.end());
    uses.push_back(std::move(use));
  }
  return uses;
}

absl::StatusOr<Instance> TellingInstance(const OpDescription& op, const Telling& telling) {
  Drawer drawer(op, Extents::kLong);
  Failures failures;
  absl::optional<Instance> best;
  int64_t most = 0;
  for (int trial = 0; trial < kTellingTrials; ++trial) {
    SampleUse use = drawer.Draw();
    absl::optional<Instance> instance = ElaborateDrawn(op, drawer, use, &failures);
    if (!instance.has_value()) continue;
    const int64_t tells = telling(*instance);
    if (best.has_value() && tells <= most) continue;
    most = tells;
    best = std::move(instance);
  }
  if (!best.has_value()) return failures.Main();
  return *std::move(best);
}

}  // namespace yuba
