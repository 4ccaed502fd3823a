#include "compiler/spmd/spmd.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "compiler/model.h"
#include "compiler/spmd/drop_buffers.h"
#include "compiler/spmd/functions.h"
#include "compiler/spmd/members.h"
#include "compiler/spmd/node_parts.h"
#include "compiler/spmd/short_sums.h"
#include "compiler/spmd/tables.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/transfers.h"
#include "runtime/program/enums.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba::compiler {
namespace {

bool AllContain(const std::vector<Box>& outer, const std::vector<Box>& inner) {
  for (size_t d = 0; d < outer.size(); ++d) {
    if (!Contains(outer[d], inner[d])) return false;
  }
  return true;
}

bool AllSame(const std::vector<Box>& a, const std::vector<Box>& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (!SameSet(a[d], b[d])) return false;
  }
  return true;
}

bool AllEmpty(const std::vector<Box>& boxes) {
  return std::all_of(boxes.begin(), boxes.end(), [](const Box& box) { return IsEmpty(box); });
}

class SpmdBuilder {
 public:
  SpmdBuilder(const Graph& graph, const search::Plan& plan, const std::vector<Cluster>& clusters,
              const std::vector<Cluster>& products, bool sections, const Layouts& layouts)
      : graph_(graph),
        plan_(plan),
        mesh_(plan.mesh),
        parts_(graph, plan),
        cluster_of_(ClustersOfNodes(graph, clusters)),
        product_of_(ClustersOfNodes(graph, products)),
        has_sections_(sections),
        layouts_(layouts) {}

  program::Program Build(Arithmetic arithmetic) {
    program_.set_hash_arithmetic(arithmetic == Arithmetic::kHash);
    for (const MeshAxis& axis : mesh_.axes) {
      program::MeshAxis* added = program_.add_mesh();
      added->set_name(axis.name);
      added->set_size(axis.size);
    }
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors.size()); ++id) AddTensor(id);
    for (int entry = 0; entry < static_cast<int>(graph_.entries.size()); ++entry) AddEntry(entry);
    AddPorts();
    DropBuffers(unused_, program_);
    return std::move(program_);
  }

 private:
  // [node]: the cluster that it is in, or null.
  static std::vector<const Cluster*> ClustersOfNodes(const Graph& graph,
                                                     const std::vector<Cluster>& clusters) {
    std::vector<const Cluster*> of_nodes(graph.nodes.size(), nullptr);
    for (const Cluster& cluster : clusters) {
      for (const TensorId result : cluster.results) {
        const NodeId producer = ProducerIn(graph, result, cluster.entry);
        if (producer >= 0) of_nodes[producer] = &cluster;
      }
    }
    return of_nodes;
  }

  // A copy gets its buffer in AddCopy, where it needs one.
  void AddTensor(TensorId id) {
    const Tensor& tensor = graph_.tensors[id];
    TabledPtr& shards = known_shards_[{plan_.tensors[id].axes, tensor.type.dims}];
    if (shards == nullptr) {
      std::vector<Box> boxes;
      for (int device = 0; device < mesh_.devices(); ++device) {
        boxes.push_back(ShardBox(mesh_, plan_.tensors[id], tensor.type.dims, device));
      }
      shards = MakeTabled(mesh_, std::move(boxes));
    }
    shards_.push_back(shards);
    buffers_.push_back(-1);
    if (tensor.kind == TensorKind::kCopy) return;
    buffers_[id] = AddBuffer(id, tensor.name, tensor.type, shards_[id]);
    program_.mutable_buffers(buffers_[id])->set_initialized(IsStored(tensor.kind));
  }

  // A copy that is sharded like its tensor shares the tensor's buffer.
  void AddCopy(const Node& node) {
    const TensorId tensor = node.operands[0], copy = node.result;
    buffers_[copy] = buffers_[tensor];
    if (AllSame(shards_[tensor]->boxes, shards_[copy]->boxes)) return;
    const Tensor& type = graph_.tensors[copy];
    const int buffer = AddBuffer(copy, type.name, type.type, shards_[copy]);
    AddExchange(node, graph_.tensors[tensor].name, {buffers_[tensor], *shards_[tensor]},
                {buffer, *shards_[copy]});
    buffers_[copy] = buffer;
  }

  void AddEntry(int entry) {
    if (!(graph_.entries == Graph().entries)) {
      program::Entry* added = program_.add_entries();
      added->set_name(graph_.entries[entry].name);
      added->set_times(graph_.entries[entry].times);
      added->set_begin(program_.instructions_size());
    }
    const Interval nodes = NodesOf(graph_, entry);
    for (int64_t n = nodes.begin; n < nodes.end; ++n) AddNode(static_cast<NodeId>(n));
    FinishKernel();
  }

  // For elements of the tensor, whose order it has.
  int AddBuffer(TensorId tensor, const std::string& name, const TensorType& type,
                const TabledPtr& boxes) {
    program::Buffer* buffer = program_.add_buffers();
    buffer->set_name(name);
    buffer->set_type(ToProto(type.type));
    for (int64_t dim : type.dims) buffer->add_dims(dim);
    *buffer->mutable_box() = boxes->table;
    const auto layout = layouts_.find(tensor);
    if (layout != layouts_.end()) {
      for (const int dim : layout->second.order) buffer->add_order(dim);
    }
    return program_.buffers_size() - 1;
  }

  void AddNode(NodeId id) {
    const Node& node = graph_.nodes[id];
    if (IsCopy(graph_, node)) return AddCopy(node);
    const NodePart& part = parts_.Of(id);
    program::Kernel kernel = part.kernel;
    for (size_t operand = 0; operand < node.operands.size(); ++operand) {
      program::Access* access = kernel.add_operands();
      access->set_buffer(Gather(node, node.operands[operand], part.reads[operand]));
      *access->mutable_box() = part.reads[operand]->table;
      access->set_partial(ReadsPartials(part.computed, operand));
    }
    AddKernel(id, part, std::move(kernel));
  }

  // The buffer from which `node` reads the boxes `reads` ([device]) of `tensor`: the tensor's own,
  // where each device's shard holds what it reads, else a buffer of exactly these boxes, which an
  // exchange fills.
  int Gather(const Node& node, TensorId tensor, const TabledPtr& reads) {
    const TabledPtr& shards = shards_[tensor];
    if (ShardsHold(shards, reads)) return buffers_[tensor];
    const Tensor& type = graph_.tensors[tensor];
    const int buffer =
        AddBuffer(tensor, absl::StrCat("gather(", type.name, ")@", node.name), type.type, reads);
    program::Exchange* gather =
        AddExchange(node, type.name, {buffers_[tensor], *shards}, {buffer, *reads});
    const std::vector<int64_t> groups = GroupsOf(tensor);
    if (IsGrouped(groups)) *gather->mutable_group() = BoundTable(mesh_, groups);
    return buffer;
  }

  // Whether each device's shard holds what it reads. Each pair of lists is compared once.
  bool ShardsHold(const TabledPtr& shards, const TabledPtr& reads) {
    const auto [known, is_new] = shards_hold_.try_emplace({shards, reads}, false);
    if (is_new) known->second = AllContain(shards->boxes, reads->boxes);
    return known->second;
  }

  // Adds the kernel and what brings its result to the owners: nothing where each device writes
  // exactly its shard, else a reduction from a buffer of its own.
  void AddKernel(NodeId id, const NodePart& part, program::Kernel kernel) {
    const Node& node = graph_.nodes[id];
    const NodeBoxes& boxes = part.boxes;
    Definition definition = part.computed;
    const Tensor& tensor = graph_.tensors[node.result];
    const TabledPtr& owners = shards_[node.result];
    const std::vector<Box>& own = owners->boxes;
    const std::vector<int64_t> groups = GroupsOf(node.result);
    const bool grouped = IsGrouped(groups);
    const bool direct = (boxes.partials == 1 || grouped) && AllSame(boxes.writes, own) &&
                        MayWriteTo(buffers_[node.result], definition, kernel);
    if (boxes.partials > 1) definition.result.type = AccumulatorType(definition.result.type);
    definition.partial = false;
    const int stored = buffers_[node.result];
    const int buffer = direct ? stored
                              : AddBuffer(node.result, absl::StrCat("written(", tensor.name, ")"),
                                          {definition.result.type, tensor.type.dims}, part.writes);
    program::Access* result = kernel.add_results();
    result->set_buffer(buffer);
    *result->mutable_box() = part.writes->table;
    const bool whole = boxes.partials == 1 && !grouped && part.computed.partial_operands.empty();
    AddMember({id, std::move(definition), std::move(kernel), whole, direct, &boxes});
    if (direct || AllEmpty(own)) return;

    const Reduced& reduced = ReducedBy(part, owners, boxes.partials > 1 && !grouped);
    const TabledPtr& slices = reduced.slices;
    program::Exchange* reduce = AddExchange(node, tensor.name, {buffer, *part.writes},
                                            {stored, slices != nullptr ? *slices : *owners});
    reduce->set_reduce(true);
    reduce->set_partials(boxes.partials);
    if (grouped) *reduce->mutable_group() = BoundTable(mesh_, groups);
    if (boxes.partials == 1 && !grouped) return;
    reduce->set_reducer(ToProto(node.definition->reducer));
    if (boxes.partials == 1) return;
    *reduce->mutable_partial() =
        BoundTable(mesh_, std::vector<int64_t>(boxes.partial.begin(), boxes.partial.end()));
    // Slice owners, or else first owners, combine the partials; owners gather the result from them.
    if (slices != nullptr) AddExchange(node, tensor.name, {stored, *slices}, {stored, *owners});
    if (slices != nullptr || grouped || reduced.one_owner) return;
    AddExchange(node, tensor.name, {stored, *owners}, {stored, *owners})->set_from_first_only(true);
  }

  // Who combines the partials that nodes of this part write. `several`: there are several, which
  // are combined into whole results.
  struct Reduced {
    TabledPtr slices;        // of slice owners; null: first owners do
    bool one_owner = false;  // no two devices own one box
  };
  const Reduced& ReducedBy(const NodePart& part, const TabledPtr& owners, bool several) {
    const auto [known, is_new] =
        reduced_.emplace(std::make_tuple(&part, owners.get(), several), Reduced());
    if (!is_new || !several) return known->second;
    auto slices = SliceOwnerBoxes({part.boxes.writes, part.boxes.partial, part.boxes.partials},
                                  owners->boxes);
    if (slices.has_value()) known->second.slices = MakeTabled(mesh_, *std::move(slices));
    known->second.one_owner = AllSame(FirstOwnerBoxes(owners->boxes), owners->boxes);
    return known->second;
  }

  // Adds the node to the kernel before it, where they are of one cluster and can be one kernel;
  // else it begins a kernel of its own.
  void AddMember(Member member) {
    const bool joins = !members_.empty() && (IsOfCluster(member) || IsPostOp(member));
    if (!joins) FinishSection();
    members_.push_back(std::move(member));
  }

  bool IsOfCluster(const Member& member) const {
    const Cluster* cluster = cluster_of_[member.node];
    return cluster != nullptr && cluster == cluster_of_[members_[0].node] &&
           MayJoin(members_, member, cluster->shared);
  }

  // Whether the kernel at hand begins with a product and the node can be a post-op of it. What a
  // library reads while it computes, it does not write over.
  bool IsPostOp(const Member& member) const {
    const Cluster* product = product_of_[member.node];
    return product != nullptr && BeginsWith(*product) && !WritesOverOperands(members_, member) &&
           MayJoin(members_, member, product->shared);
  }

  bool BeginsWith(const Cluster& product) const {
    const NodeId first = members_[0].node;
    return product_of_[first] == &product && graph_.nodes[first].result == product.results[0];
  }

  // Puts the members at hand, if there are any, beside the sections before them, where they may
  // stand there; else they begin a kernel of their own.
  void FinishSection() {
    if (members_.empty()) return;
    const NodeId first = members_[0].node;
    const Cluster* cluster =
        cluster_of_[first] != nullptr ? cluster_of_[first] : product_of_[first];
    MemberSection section;
    if (members_.size() > 1) section.shared = cluster->shared;
    section.members = std::move(members_);
    members_.clear();
    const bool beside = has_sections_ && !sections_.empty() &&
                        BeginsGathers(section) == BeginsGathers(sections_[0]) &&
                        MayStandBeside(program_, sections_, section);
    if (!beside) AddSections();
    sections_.push_back(std::move(section));
  }

  // Whether a step may begin with these, and with gathers of what they compute, as of weights that
  // are converted to bf16. Beside a kernel that waits for others, the gathers would wait too, where
  // they could run beside these (compiler/streams).
  bool BeginsGathers(const MemberSection& section) {
    bool gathered = false;
    for (const Member& member : section.members) {
      for (const program::Access& operand : member.kernel.operands()) {
        if (!program_.buffers(operand.buffer()).initialized()) return false;
      }
      gathered |= IsGathered(graph_.nodes[member.node].result);
    }
    return gathered;
  }

  // Whether some node reads more of the tensor than its device holds, or a copy is sharded
  // otherwise.
  bool IsGathered(TensorId tensor) {
    const std::vector<NodeId>& readers = graph_.tensors[tensor].consumers;
    return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      const Node& node = graph_.nodes[reader];
      if (IsCopy(graph_, node))
        return !AllSame(shards_[tensor]->boxes, shards_[node.result]->boxes);
      for (size_t o = 0; o < node.operands.size(); ++o) {
        if (node.operands[o] == tensor && !ShardsHold(shards_[tensor], parts_.Of(reader).reads[o]))
          return true;
      }
      return false;
    });
  }

  // Adds the instruction of the kernel at hand, if there is one. Whatever adds another instruction
  // calls this first.
  void FinishKernel() {
    FinishSection();
    AddSections();
  }

  void AddSections() {
    if (sections_.empty()) return;
    JoinedKernel joined = JoinMembers(graph_, program_, sections_);
    std::vector<Definition> definitions;
    for (MemberSection& section : sections_) {
      for (Member& member : section.members) definitions.push_back(std::move(member.definition));
    }
    joined.kernel.set_function(
        functions_.NumberOf(joined.function, std::move(definitions), joined.kernel, program_));
    *program_.add_instructions()->mutable_kernel() = std::move(joined.kernel);
    unused_.insert(joined.unused.begin(), joined.unused.end());
    sections_.clear();
  }

  // Whether the kernel, whose operands are set, may write its result into `buffer`: it reads
  // nothing else there than the elements in whose place it puts others. Only the kernel that
  // computes a carried tensor can read where it writes.
  static bool MayWriteTo(int buffer, const Definition& definition, const program::Kernel& kernel) {
    for (int o = 0; o < kernel.operands_size(); ++o) {
      if (kernel.operands(o).buffer() == buffer && !MayOverwrite(definition, o)) return false;
    }
    return true;
  }

  static bool IsGrouped(const std::vector<int64_t>& groups) {
    return *std::max_element(groups.begin(), groups.end()) > 0;
  }

  // [device]: the group whose partial of the tensor it has; all 0 where the tensor is no partial.
  std::vector<int64_t> GroupsOf(TensorId tensor) const {
    std::vector<int64_t> groups(mesh_.devices(), 0);
    if (graph_.tensors[tensor].kind != TensorKind::kPartial) return groups;
    for (int device = 0; device < mesh_.devices(); ++device) {
      groups[device] = GroupNumber(mesh_, plan_.tensors[tensor], device);
    }
    return groups;
  }

  program::Exchange* AddExchange(const Node& node, const std::string& tensor,
                                 const std::pair<int, const Tabled&>& from,
                                 const std::pair<int, const Tabled&>& to) {
    FinishKernel();
    program::Exchange* exchange = program_.add_instructions()->mutable_exchange();
    exchange->set_tensor(tensor);
    exchange->set_node(node.name);
    exchange->set_partials(1);
    exchange->set_source(from.first);
    *exchange->mutable_from() = from.second.table;
    exchange->set_destination(to.first);
    *exchange->mutable_to() = to.second.table;
    return exchange;
  }

  void FillPort(TensorId id, const std::string& name, program::Port* port) {
    port->set_name(name);
    port->set_buffer(buffers_[id]);
    const auto layout = layouts_.find(id);
    const std::vector<int64_t> shape =
        layout != layouts_.end() ? layout->second.shape : WholeDims(graph_.tensors[id]);
    for (int64_t dim : shape) port->add_shape(dim);
  }

  void AddPorts() {
    const std::vector<Tensor>& tensors = graph_.tensors;
    for (TensorId id : graph_.inputs) {
      FillPort(id, tensors[id].name, program_.add_inputs());
      program_.mutable_inputs()->rbegin()->set_examples(tensors[id].batch_dim + 1);
    }
    for (TensorId id : graph_.outputs)
      FillPort(id, OutputName(tensors[id]), program_.add_outputs());
    for (TensorId id = 0; id < static_cast<TensorId>(tensors.size()); ++id) {
      if (!HasInitialValue(tensors[id].kind)) continue;
      FillPort(id, tensors[id].name, program_.add_parameters()->mutable_port());
    }
  }

  const Graph& graph_;
  const search::Plan& plan_;
  const Mesh& mesh_;
  program::Program program_;
  NodeParts parts_;
  std::vector<TabledPtr> shards_;  // [tensor]
  std::map<std::pair<std::vector<AxisList>, std::vector<int64_t>>, TabledPtr> known_shards_;
  // By part, owners, and whether there are several partials.
  std::map<std::tuple<const NodePart*, const Tabled*, bool>, Reduced> reduced_;
  std::map<std::pair<TabledPtr, TabledPtr>, bool> shards_hold_;  // by shards and what is read
  std::vector<int> buffers_;  // [tensor]: the buffer of its shards; -1: a copy not yet made
  FunctionTable functions_;
  std::vector<const Cluster*> cluster_of_;  // [node]; null: it shares no kernel that is generated
  std::vector<const Cluster*> product_of_;  // [node]; null: none that is a library call
  const bool has_sections_;                 // whether kernels may have several
  const Layouts& layouts_;
  std::vector<MemberSection> sections_;  // of the kernel at hand, which is no instruction yet
  std::vector<Member> members_;          // of its last section
  std::set<int> unused_;                 // buffers that are to go
};

program::Program Build(const Graph& graph, const search::Plan& plan, Arithmetic arithmetic,
                       const std::vector<Cluster>& clusters, const std::vector<Cluster>& products,
                       bool sections = false, const Layouts& layouts = {}) {
  YUBA_CHECK(plan.tensors.size() == graph.tensors.size());
  YUBA_CHECK(plan.nodes.size() == graph.nodes.size());
  const absl::optional<ShortSums> sums = WithShortSums(graph);
  if (!sums.has_value())
    return SpmdBuilder(graph, plan, clusters, products, sections, layouts).Build(arithmetic);
  search::Plan of_sums;
  of_sums.mesh = plan.mesh;
  Layouts of_tensors;
  for (const TensorId tensor : sums->like) {
    const auto layout = layouts.find(tensor);
    if (layout != layouts.end())
      of_tensors[static_cast<TensorId>(of_sums.tensors.size())] = layout->second;
    of_sums.tensors.push_back(plan.tensors[tensor]);
  }
  for (const NodeId node : sums->of) of_sums.nodes.push_back(plan.nodes[node]);
  return SpmdBuilder(sums->graph, of_sums, clusters, products, sections, of_tensors)
      .Build(arithmetic);
}

// The clusters of which threads of a GPU can share out each row: as they are, or in pieces that
// begin where there are loops.
std::vector<Cluster> OfRows(const Model& model) {
  std::vector<Cluster> rows;
  for (const Cluster& cluster : model.clusters) {
    if (cluster.rows == Cluster::kTogether) rows.push_back(cluster);
    if (cluster.rows != Cluster::kOnce) continue;
    Cluster piece = cluster;
    piece.results.clear();
    const auto finish = [&] {
      if (piece.results.size() > 1) rows.push_back(piece);
      piece.results.clear();
    };
    for (const TensorId result : cluster.results) {
      const NodeId node = ProducerIn(model.graph, result, cluster.entry);
      const int indices = static_cast<int>(model.graph.nodes[node].definition->indices.size());
      if (indices > cluster.shared) finish();
      piece.results.push_back(result);
    }
    finish();
  }
  return rows;
}

}  // namespace

program::Program ProgramWithoutValues(const Graph& graph, const search::Plan& plan,
                                      Arithmetic arithmetic) {
  return Build(graph, plan, arithmetic, {}, {});
}

program::Program MakeSpmdProgram(const Model& model, const search::Plan& plan,
                                 Arithmetic arithmetic, Joins joins,
                                 const std::vector<Cluster>& products, const Layouts& layouts) {
  program::Program program = Build(model.graph, plan, arithmetic,
                                   joins == Joins::kNone   ? std::vector<Cluster>()
                                   : joins == Joins::kRows ? OfRows(model)
                                                           : model.clusters,
                                   products, joins == Joins::kRows, layouts);
  program.set_graph_hash(model.graph_hash);
  SetInitialValues(model, program);
  return program;
}

}  // namespace yuba::compiler
