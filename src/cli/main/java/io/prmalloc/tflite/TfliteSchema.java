package io.prmalloc.tflite;

/**
 * Where the schema of TensorFlow Lite, version 3 (with 3a to 3c), keeps what we read. A field is
 * known by its slot, its number in the table; fields that are not named here are not read.
 *
 * <pre>
 * file       +0 offset of Model, 4 bytes; +4 "TFL3"; all numbers little-endian
 *
 * Model      0 version: uint32    1 operatorCodes: [OperatorCode]
 *            2 subgraphs: [SubGraph]   4 buffers: [Buffer]  6 metadata: [Metadata]
 * OperatorCode  0 old code: int8  1 custom name: string     3 code: int32; the larger of both
 * SubGraph   0 tensors: [Tensor]  1 inputs: [int32]         2 outputs: [int32]
 *            3 operators: [Operator], in execution order    4 name: string
 * Tensor     0 shape: [int32]     1 type: int8              2 buffer: uint32
 *            3 name: string       5 isVariable: bool        7 shapeSignature: [int32] (-1: open)
 * Operator   0 code: uint32       1 inputs: [int32]         2 outputs: [int32]  (-1: absent)
 *            4 options: a table for each kind               12 options of later kinds
 * Buffer     0 data: [uint8]      1 offset: uint64          2 size: uint64
 * Metadata   0 name: string       1 buffer: uint32
 * </pre>
 *
 * <p>A tensor whose buffer has data is constant. Data of files over 2 GiB lies outside the tables,
 * at {@code offset} from the file's begin; 0 and 1 mean there is none. A metadata {@code
 * OfflineMemoryAllocation} is int32: a version, a number that is not read, how many tensors, and
 * the offset of each in the arena, −1 for none.
 *
 * <p>Threading: immutable.
 */
final class TfliteSchema {

  static final String IDENTIFIER = "TFL3";
  static final int IDENTIFIER_OFFSET = 4;
  static final int HEADER_LENGTH = 8;
  static final int VERSION = 3;

  static final int MODEL_VERSION = 0;
  static final int MODEL_OPERATOR_CODES = 1;
  static final int MODEL_SUBGRAPHS = 2;
  static final int MODEL_BUFFERS = 4;
  static final int MODEL_METADATA = 6;

  static final int CODE_OLD = 0;
  static final int CODE_CUSTOM_NAME = 1;
  static final int CODE_NUMBER = 3;

  static final int METADATA_NAME = 0;
  static final int METADATA_BUFFER = 1;
  static final String OFFLINE_PLAN = "OfflineMemoryAllocation";

  static final int SUBGRAPH_TENSORS = 0;
  static final int SUBGRAPH_INPUTS = 1;
  static final int SUBGRAPH_OUTPUTS = 2;
  static final int SUBGRAPH_OPERATORS = 3;
  static final int SUBGRAPH_NAME = 4;

  static final int TENSOR_SHAPE = 0;
  static final int TENSOR_TYPE = 1;
  static final int TENSOR_BUFFER = 2;
  static final int TENSOR_NAME = 3;
  static final int TENSOR_IS_VARIABLE = 5;
  static final int TENSOR_SHAPE_SIGNATURE = 7;

  static final int OPERATOR_CODE = 0;
  static final int OPERATOR_INPUTS = 1;
  static final int OPERATOR_OUTPUTS = 2;
  static final int OPERATOR_OPTIONS = 4;
  static final int OPERATOR_OPTIONS_2 = 12;

  static final int BUFFER_DATA = 0;
  static final int BUFFER_OFFSET = 1;
  static final int BUFFER_SIZE = 2;

  private TfliteSchema() {}
}
