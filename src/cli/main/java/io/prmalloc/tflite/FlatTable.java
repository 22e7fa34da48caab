package io.prmalloc.tflite;

import com.google.flatbuffers.Table;
import io.prmalloc.model.ModelFormatException;
import java.nio.charset.StandardCharsets;

/**
 * A table of a file, read by the numbers of its fields. The bounds of the table and of its vtable
 * are checked when it is opened, those of a field when it is read.
 *
 * <p>Threading: one thread at a time.
 */
final class FlatTable extends Table {

  /**
   * A vector in the file.
   *
   * @param start position of the first element
   * @param count how many elements
   */
  record Vector(int start, int count) {}

  private static final Vector EMPTY = new Vector(0, 0);

  private static final int VTABLE_HEADER_LENGTH = 4;
  private static final int MAX_VTABLE_LENGTH = Short.MAX_VALUE;

  private final FlatFile file;
  private final String place;
  private final int length;

  /**
   * @param position where it begins; at least 4 bytes of the file lie there
   * @param place what errors call it; empty for the root
   * @throws ModelFormatException if it or its vtable is not inside the file
   */
  FlatTable(FlatFile file, int position, String place) {
    this.file = file;
    this.place = place;
    long vtable = (long) position - file.bytes().getInt(position);
    file.checkInside(vtable, VTABLE_HEADER_LENGTH, place, "the vtable");
    int vtableLength = Short.toUnsignedInt(file.bytes().getShort((int) vtable));
    this.length = Short.toUnsignedInt(file.bytes().getShort((int) vtable + 2));
    if (vtableLength < VTABLE_HEADER_LENGTH
        || vtableLength > MAX_VTABLE_LENGTH
        || vtableLength % 2 != 0) {
      throw file.error(place, "the vtable at " + vtable + " claims " + vtableLength + " bytes");
    }
    file.checkInside(vtable, vtableLength, place, "the vtable");
    file.checkInside(position, length, place, "the table");
    __reset(position, file.bytes());
  }

  /** The table that the file's first bytes point at. */
  static FlatTable root(FlatFile file) {
    return new FlatTable(file, file.target(0, ""), "");
  }

  /** What errors call this table; empty for the root. */
  String place() {
    return place;
  }

  /** What errors call a field of this table. */
  String place(String name) {
    return place.isEmpty() ? name : place + "." + name;
  }

  /** Position of a field's value, or 0 if the field is absent. */
  private int slot(int field, int width, String name) {
    int offset = __offset(VTABLE_HEADER_LENGTH + 2 * field);
    if (offset == 0) {
      return 0;
    }
    offset = offset & 0xffff;
    if (offset < 4 || offset + width > length) {
      throw file.error(
          place(name), "lies at " + offset + " of a table that has " + length + " bytes");
    }
    return bb_pos + offset;
  }

  int byteValue(int field, String name) {
    return byteValue(field, 0, name);
  }

  /** A number, or what it is where the file does not say it. */
  int byteValue(int field, int absent, String name) {
    int slot = slot(field, 1, name);
    return slot == 0 ? absent : bb.get(slot);
  }

  /** A number, or what it is where the file does not say it. */
  int intValue(int field, int absent, String name) {
    int slot = slot(field, 4, name);
    return slot == 0 ? absent : bb.getInt(slot);
  }

  /** A table, or null if the field is absent. */
  FlatTable table(int field, String name) {
    int slot = slot(field, 4, name);
    return slot == 0 ? null : new FlatTable(file, file.target(slot, place(name)), place(name));
  }

  long unsignedInt(int field, String name) {
    int slot = slot(field, 4, name);
    return slot == 0 ? 0 : Integer.toUnsignedLong(bb.getInt(slot));
  }

  /** Numbers from 2^63 on come out negative. */
  long longValue(int field, String name) {
    int slot = slot(field, 8, name);
    return slot == 0 ? 0 : bb.getLong(slot);
  }

  /** A vector whose elements are not read, so that its length is no cost. */
  Vector unreadVector(int field, int elementBytes, String name) {
    int slot = slot(field, 4, name);
    if (slot == 0) {
      return EMPTY;
    }
    int target = file.target(slot, place(name));
    long count = Integer.toUnsignedLong(bb.getInt(target));
    file.checkInside(
        target + 4L, count * elementBytes, place(name), "a vector of " + count + " elements,");
    return new Vector(target + 4, (int) count);
  }

  private Vector vector(int field, int elementBytes, String name) {
    Vector vector = unreadVector(field, elementBytes, name);
    file.spend((long) vector.count * elementBytes, place(name));
    return vector;
  }

  int[] ints(int field, String name) {
    Vector vector = vector(field, 4, name);
    int[] values = new int[vector.count];
    for (int i = 0; i < values.length; i++) {
      values[i] = bb.getInt(vector.start + 4 * i);
    }
    return values;
  }

  String string(int field, String name) {
    Vector vector = vector(field, 1, name);
    byte[] text = new byte[vector.count];
    bb.get(vector.start, text);
    return new String(text, StandardCharsets.UTF_8);
  }

  /** A vector of tables, for {@link #element}. */
  Vector tables(int field, String name) {
    return vector(field, 4, name);
  }

  /** A table in a vector. */
  FlatTable element(Vector tables, int index, String name) {
    String elementPlace = place(name) + "[" + index + "]";
    return new FlatTable(file, file.target(tables.start + 4L * index, elementPlace), elementPlace);
  }
}
