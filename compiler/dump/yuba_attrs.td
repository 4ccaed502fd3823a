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
  let summary = "An index of a function: m:256, a reduction index k:128+, one of groups group:4*";
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$extent, "bool":$reduction,
                    "bool":$groups);
}

#endif  // YUBA_COMPILER_DUMP_YUBA_ATTRS_TD_
