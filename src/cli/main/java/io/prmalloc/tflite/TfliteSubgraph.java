package io.prmalloc.tflite;

import java.util.ArrayList;
import java.util.List;

/**
 * A subgraph as the file has it, checked to lie in the file and no further.
 *
 * <p>Threading: immutable.
 *
 * @param place what errors call it: {@code subgraphs[0]}
 * @param inputs indices of tensors, which may be any number
 * @param outputs indices of tensors, which may be any number
 */
record TfliteSubgraph(
    String place,
    String name,
    List<TfliteTensor> tensors,
    List<TfliteOperator> operators,
    List<Integer> inputs,
    List<Integer> outputs) {

  /**
   * A tensor.
   *
   * @param place what errors call it
   * @param shape dimensions from 0 on
   * @param isOpen whether the file says that a dimension is not known
   * @param signature the shape with −1 for open dimensions; {@code shape} where nothing is open
   * @param dataBytes bytes of its data in the file; 0 if it is not constant
   * @param dataAt where in the file the data begins; 0 if it is not constant or too far
   */
  record TfliteTensor(
      String place,
      String name,
      ElementType type,
      List<Integer> shape,
      boolean isOpen,
      List<Integer> signature,
      boolean isVariable,
      long dataBytes,
      long dataAt) {

    boolean isConstant() {
      return dataBytes > 0;
    }

    /** Whether elements are numbers that a shape can be made of. */
    boolean isWholeNumbers() {
      return type == ElementType.INT32 || type == ElementType.INT64;
    }

    /** The elements of a constant of few whole numbers; null of every other tensor. */
    List<Long> values(FlatFile file) {
      int width = type == ElementType.INT64 ? 8 : 4;
      if (!isWholeNumbers()
          || dataAt == 0
          || dataBytes > (long) width * ShapeRules.MAX_VALUES
          || dataBytes % width != 0) {
        return null;
      }
      List<Long> values = new ArrayList<>();
      for (int at = (int) dataAt; at < dataAt + dataBytes; at += width) {
        values.add(width == 8 ? file.bytes().getLong(at) : file.bytes().getInt(at));
      }
      return values;
    }
  }

  /**
   * An operator.
   *
   * @param place what errors call it
   * @param kind null if the number is not known
   * @param name of the kind, or the custom operator's own
   * @param options null if there are none
   * @param calls subgraphs it runs
   */
  record TfliteOperator(
      String place,
      BuiltinOperator kind,
      String name,
      List<Integer> inputs,
      List<Integer> outputs,
      FlatTable options,
      List<Integer> calls) {}
}
