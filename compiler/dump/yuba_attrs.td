// The attributes of the dialect yuba: what its operations say of meshes, shardings and boxes, as
// values with fields. In an operation the text of an attribute stands alone, as in `mesh a=2 b=2`;
// elsewhere it reads #yuba.mesh<a=2 b=2>.
//
// Shardings and partitions have the longer form everywhere: they are written with a '/', which is
// no token of MLIR, and only between < and > does MLIR leave the text to the dialect.
#ifndef YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_
#define YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Yuba_Dialect : Dialect {
  let name = "yuba";
  let cppNamespace = "::yuba::compiler";
  let summary = "Graphs of definitions, how they are partitioned, and the programs they become";
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser& parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter& printer) const override;
  }];
}

// An attribute whose text is made of MLIR's tokens.
class Yuba_Attr<string name, string word> : AttrDef<Yuba_Dialect, name> {
  let mnemonic = word;
  let hasCustomAssemblyFormat = 1;
}

// An attribute with a '/' in its text, or a part of another one.
class Yuba_OtherAttr<string name, string word> : AttrDef<Yuba_Dialect, name> {
  let attrName = "yuba." # word;
}

def Yuba_MeshAttr : Yuba_Attr<"Mesh", "mesh"> {
  let summary = "The devices as a grid of named axes: a=2 b=2; of one device: nothing";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                    ArrayRefParameter<"int64_t">:$sizes);
}

def Yuba_AxesAttr : Yuba_Attr<"Axes", "axes"> {
  let summary = "Mesh axes, outermost first: ab, data+model.1";
  let description = [{
    A word names an axis, a group of axes, or several axes of one letter each; which of them, the
    mesh decides (AxesFrom in mesh_attr.h).
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$words);
}

def Yuba_DimensionAttr : Yuba_OtherAttr<"Dimension", "dimension"> {
  let summary = "One dimension of a sharding: 32/ab, (3 12/c 64)";
  let parameters = (ins ArrayRefParameter<"int64_t">:$factors,
                    ArrayRefParameter<"::yuba::compiler::AxesAttr">:$axes);
}

def Yuba_ShardingAttr : Yuba_OtherAttr<"Sharding", "sharding"> {
  let summary = "Over which mesh axes a tensor is cut: [32/ab, (3 12/c 64)]";
  let parameters = (ins ArrayRefParameter<"::yuba::compiler::DimensionAttr">:$dims);
}

def Yuba_PartitionAttr : Yuba_OtherAttr<"Partition", "partition"> {
  let summary = "Over which mesh axes the indices of a definition are cut: m/ab k/c";
  let description = "Indices that are not cut are left out; the others are in their order.";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$indices,
                    ArrayRefParameter<"::yuba::compiler::AxesAttr">:$axes);
}

def Yuba_BoundAttr : Yuba_Attr<"Bound", "bound"> {
  let summary = "A number for each device: 64, or by coordinates on some axes ab(0 8 16 24)";
  let parameters = (ins "::yuba::compiler::AxesAttr":$axes, ArrayRefParameter<"int64_t">:$values);
}

def Yuba_BoxAttr : Yuba_Attr<"Box", "box"> {
  let summary = "A box for each device, begin and end of each dimension: [a(0 8):a(8 16), 0:64]";
  let parameters = (ins ArrayRefParameter<"::yuba::compiler::BoundAttr">:$begins,
                    ArrayRefParameter<"::yuba::compiler::BoundAttr">:$ends);
}

def Yuba_AccessAttr : Yuba_Attr<"Access", "access"> {
  let summary = "What a kernel reads of an operand: [0:64], and partial [0:64] of an unreduced one";
  let parameters = (ins "::yuba::compiler::BoxAttr":$box, "bool":$partial);
}

def Yuba_KindAttr : Yuba_Attr<"Kind", "kind"> {
  let summary = "What a tensor is that nothing computes: input, weight, constant";
  let parameters = (ins "::yuba::TensorKind":$value);
}

def Yuba_ReducerAttr : Yuba_Attr<"Reducer", "reducer"> {
  let summary = "sum, max, ...; none";
  let parameters = (ins "::yuba::Reducer":$value);
}

def Yuba_CollectiveAttr : Yuba_Attr<"Collective", "collective"> {
  let summary = "What an exchange was recognised as: all_gather, ...; plain";
  let parameters = (ins "int":$number);  // in opsemantics/base/collectives.h
}

def Yuba_FunctionIndexAttr : Yuba_Attr<"FunctionIndex", "index"> {
  let summary = "An index of a function: m:256, a reduction index k:128+, one of groups group:4*, a "
                "determined one r:50=";
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$extent, "bool":$reduction,
                    "bool":$groups, "bool":$determined);
}

def Yuba_KernelTensorAttr : Yuba_Attr<"KernelTensor", "kernel_tensor"> {
  let summary = "A tensor of a kernel: operand 2, result 0, internal 1";
  let parameters = (ins "int":$kind, "int32_t":$number);  // program::KernelTensor::KindCase
}

def Yuba_FunctionDefinitionAttr : Yuba_Attr<"FunctionDefinition", "function_definition"> {
  let summary = "A definition of a cluster: "
                "\"m[i] = ...\" none over (0) reads (operand 0) to result 0";
  let description = "The numbers behind `over` are positions among the cluster's indices.";
  let parameters = (ins "::mlir::StringAttr":$text, "::yuba::Reducer":$reducer,
                    ArrayRefParameter<"int32_t">:$indices,
                    ArrayRefParameter<"::yuba::compiler::KernelTensorAttr">:$operands,
                    "::yuba::compiler::KernelTensorAttr":$computes);
}

def Yuba_InternalAttr : Yuba_Attr<"Internal", "internal"> {
  let summary = "A tensor that a kernel keeps to itself, and its box: \"m\" [0:8] : memref<8xf32>";
  let parameters = (ins "::mlir::StringAttr":$name, "::yuba::compiler::BoxAttr":$box,
                    "::mlir::Type":$type);
}

def Yuba_PortKindAttr : Yuba_Attr<"PortKind", "port_kind"> {
  let summary = "Whether a caller sets a port in each step, reads it, or sets it once: "
                "input, output, parameter";
  let parameters = (ins "::yuba::compiler::PortKind":$value);
}

// The parts of a library call, as structures: <index = 2, left = 1, right = 0>.
class Yuba_StructAttr<string name, string word> : AttrDef<Yuba_Dialect, name> {
  let mnemonic = word;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Yuba_LibraryIndexAttr : Yuba_StructAttr<"LibraryIndex", "library_index"> {
  let summary = "An index of a library call, and the dimension of each tensor that it runs along";
  let parameters = (ins "int32_t":$index, DefaultValuedParameter<"int32_t", "-1">:$left,
                    DefaultValuedParameter<"int32_t", "-1">:$right,
                    DefaultValuedParameter<"int32_t", "-1">:$result);
}

def Yuba_LibraryWindowAttr : Yuba_StructAttr<"LibraryWindow", "library_window"> {
  let summary = "A window of a convolution: indices, numbers and dimensions";
  let parameters = (ins DefaultValuedParameter<"int32_t", "-1">:$output,
                    DefaultValuedParameter<"int32_t", "-1">:$kernel,
                    DefaultValuedParameter<"int32_t", "-1">:$input, "int64_t":$stride,
                    "int64_t":$dilation, "int64_t":$low,
                    DefaultValuedParameter<"int32_t", "-1">:$input_dim,
                    DefaultValuedParameter<"int32_t", "-1">:$filter_dim,
                    DefaultValuedParameter<"int32_t", "-1">:$output_dim);
}

def Yuba_LibraryAttr : Yuba_Attr<"Library", "library"> {
  let summary = "A call of a library: (left = 0, right = 1, rows = [...], inner = [...])";
  let description = "What the fields mean is at LibraryCall in runtime/program/program.proto.";
  let parameters = (ins "int32_t":$left, "int32_t":$right,
                    ArrayRefParameter<"::yuba::compiler::LibraryIndexAttr">:$batch,
                    ArrayRefParameter<"::yuba::compiler::LibraryIndexAttr">:$groups,
                    ArrayRefParameter<"::yuba::compiler::LibraryIndexAttr">:$rows,
                    ArrayRefParameter<"::yuba::compiler::LibraryIndexAttr">:$columns,
                    ArrayRefParameter<"::yuba::compiler::LibraryIndexAttr">:$inner,
                    ArrayRefParameter<"::yuba::compiler::LibraryWindowAttr">:$windows,
                    "int32_t":$kind, "::yuba::ElementType":$type,
                    "::yuba::ElementType":$accumulator);
}

def Yuba_IndexSplitAttr : Yuba_StructAttr<"IndexSplit", "index_split"> {
  let summary = "An index that threads may share out, in steps, and the result's dimension";
  let parameters = (ins "int32_t":$index, "int32_t":$dim, "int64_t":$step);
}

#endif  // YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_
