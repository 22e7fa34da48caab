package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SharedData;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorShape;
import io.prmalloc.plan.TensorUsageRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LivesReaderTest {

  private static TensorLifetimes lifetimes(String text) {
    return LivesReader.read(
        "x.csv", text.getBytes(StandardCharsets.UTF_8), LivesReader.LIFETIMES_COLUMNS);
  }

  private static TensorLifetimes records(String text) {
    return LivesReader.read(
        "x.csv", text.getBytes(StandardCharsets.UTF_8), LivesReader.RECORDS_COLUMNS);
  }

  @Test
  void shouldReadHalfOpenLivesWhenTheyAreLifetimes() {
    TensorLifetimes read = lifetimes("id,lower,upper,size\r\nb,5,9,32\r\n\r\na,0,1,0");

    assertEquals(List.of("b", "a"), read.ids());
    assertEquals(
        List.of(new TensorUsageRecord(32, 5, 8), new TensorUsageRecord(0, 0, 0)), read.records());
    assertEquals(1, read.dimensions());
    assertEquals(Optional.empty(), read.shapedRecords());
  }

  @Test
  void shouldFindColumnsByNameWhenTheyComeInAnotherOrder() {
    TensorLifetimes read = records("\uFEFFlast, note ,size,id,first\n4,\"a, \"\"b\"\"\",7,x,2\n");

    assertEquals(List.of(new TensorUsageRecord(7, 2, 4)), read.records());
    assertEquals(
        "last,note,size,id,first,offset\n4,\"a, \"\"b\"\"\",7,x,2,64\n",
        read.toCsv(OffsetsAssignment.of(read.records(), new long[] {64}, 1)));
  }

  @Test
  void shouldReplaceTheColumnWhenThereAreOffsetsAlready() {
    TensorLifetimes read = lifetimes("id,offset,lower,upper,size\n0,99,0,1,4\n");

    assertEquals(
        "id,offset,lower,upper,size\n0,8,0,1,4\n",
        read.toCsv(OffsetsAssignment.of(read.records(), new long[] {8}, 1)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ID,Lower,UPPER,Size\na,0,2,4\nb,2,5,64\n",
        "id;lower;upper;size\na;0;2;4\nb;2;5;64\n",
        "id\tlower\tupper\tsize\na\t0\t2\t4\nb\t2\t5\t64\n",
        "# made by x, y\n\n#\nid,lower,upper,size\n#a,1,2,4\na,0,2,4\n  # c\nb,2,5,64\n",
        "id,lower,upper,size\na,0,2,4\nb,2,5,64\n,,,\n,,,,,\n",
        "id,lower,upper,size,\na,0,2,4,\nb,2,5,64,\n",
        "id,lower,upper,size,,\na,0,2,4\nb,2,5,64,,,,\n",
        "id;lower;upper;size;\na;0;2;4;\nb;2;5;64;\n",
        "id\tlower\tupper\tsize\t\na\t0\t2\t4\t\nb\t2\t5\t64\t\t\n\t\t\t\n",
        "id,lower,upper,size\na,0x0,0x2,4B\nb,2,5,0x40\n",
        "id,lower,upper,size,thread\na,0,2,4,1\nb,2,5,64,2\n",
        "\uFEFF#c\nid,lower,upper,size\n\"a\" ,0,2,\t4\n\"b\"\t,2,5,64\n",
        "\"id\",\"lower\",\"upper\",\"size\"\n\"a\",\"0\",\"2\",\"4\"\n\"b\",2,5,64\n",
      })
  void shouldReadTheSameWhenToolsWriteItOtherwise(String text) throws IOException {
    TensorLifetimes read = lifetimes(text);

    assertEquals(List.of("a", "b"), read.ids());
    assertEquals(
        List.of(new TensorUsageRecord(4, 0, 1), new TensorUsageRecord(64, 2, 4)), read.records());
    Path file = Files.createTempFile("lives", ".csv");
    try {
      Files.writeString(file, text);
      assertEquals(TraceFormat.LIFETIMES, TraceFormat.detect(file));
    } finally {
      Files.delete(file);
    }
    // What is written can be read again, and is no other table.
    String written = read.toCsv(OffsetsAssignment.of(read.records(), new long[] {64, 0}, 1));
    assertEquals(read.ids(), lifetimes(written).ids());
    assertEquals(
        List.of(64L, 0L),
        lifetimes(written).records().stream()
            .map(record -> record.constraints().offset().orElseThrow())
            .toList());
    assertEquals(
        read.records(),
        lifetimes(written).records().stream()
            .map(record -> record.with(TensorConstraints.NONE))
            .toList());
    assertTrue(written.lines().findFirst().orElseThrow().endsWith("offset"), written);
    assertTrue(written.lines().skip(1).findFirst().orElseThrow().endsWith("64"), written);
  }

  @Test
  void shouldWriteWithItsOwnDelimiterAndQuotesWhenTheFileHasThem() {
    TensorLifetimes read =
        lifetimes("ID;Lower;Upper;Size;Offset\n\"#a\";0;2;1K;7\n\"b;c\";2;5;1GiB;8\n");

    assertEquals(List.of("#a", "b;c"), read.ids());
    assertEquals(1L << 30, read.records().get(1).sizeBytes());
    assertEquals(
        "ID;Lower;Upper;Size;Offset\n\"#a\";0;2;1K;0\n\"b;c\";2;5;1GiB;64\n",
        read.toCsv(OffsetsAssignment.of(read.records(), new long[] {0, 64}, 1)));
  }

  @Test
  void shouldKeepEmptyCellsWhenTabsPartThem() {
    TensorLifetimes read = lifetimes("note\tid\tlower\tupper\tsize\tmore\n\ta\t0\t2\t4\t\n");

    assertEquals(List.of("a"), read.ids());
    assertEquals(
        "note\tid\tlower\tupper\tsize\tmore\toffset\n\ta\t0\t2\t4\t\t0\n",
        read.toCsv(OffsetsAssignment.of(read.records(), new long[1], 1)));
  }

  @Test
  void shouldTellHexadecimalFromShapesWhenBothBeginAlike() {
    assertEquals(256, records("id,size,first,last\na,0x100,0,1\n").records().get(0).sizeBytes());
    TensorLifetimes shapes = records("id,size,first,last\na,2x8,0,1\nb,0x100,0,1\n");
    assertEquals(TensorShape.of(0L, 100L), shapes.shapedRecords().orElseThrow().get(1).shape());
    assertEquals(
        "x.csv:3: the size has 2 dimensions, but those before it have 1",
        assertThrows(
                TraceFormatException.class,
                () -> records("id,size,first,last\na,0x100,0,1\nb,2x8,0,1\n"))
            .getMessage());
  }

  @Test
  void shouldReadShapesWhenSizesHaveDimensions() {
    TensorLifetimes read = records("id,size,first,last\n0,2x8,0,1\n1,3x0,1,2\n");

    assertEquals(2, read.dimensions());
    assertEquals(
        List.of(TensorShape.of(2L, 8L), TensorShape.of(3L, 0L)),
        read.shapedRecords().orElseThrow().stream().map(r -> r.shape()).toList());
    assertEquals(16, read.records().get(0).sizeBytes());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0,16,0,1|1: `0,16,0,1` has no column `id`; expected the header `id,size,first,last`",
        "id,size,first|1: `id,size,first` has no column `last`; expected the header"
            + " `id,size,first,last`",
        "id,size,id,first,last|1: column `id` comes twice",
        "id,size,first,last;a,1,2|2: has 3 fields, but the header has 4",
        "id,size,first,last;;a,1,2,3,4|3: has 5 fields, but the header has 4",
        "id,size,first,last;a,1,5,4|2: first task 5 is after last 4",
        "id,size,first,last;a,-1,0,4|2: size -1 is negative; the least is 0",
        "id,size,first,last;a,1,-7,4|2: first task -7 is negative; the least is 0",
        "id,size,first,last;a,1.5,0,4|2: size `1.5` is not a whole number that fits 64 bits, such as"
            + " 65536, 64K or 1MiB",
        "id,size,first,last;a,1,0,|2: last `` is not a whole number that fits 64 bits",
        "id,size,first,last;a,9223372036854775808,0,1|2: size `9223372036854775808` is not a whole"
            + " number that fits 64 bits, such as 65536, 64K or 1MiB",
        "id,size,first,last;a,9223372036854775807,0,1;b,1,5,6|3: size 1 takes the sum of all sizes"
            + " over 2^63 - 1",
        "id,size,first,last;a,1,0,1;b,1,0,1;a,2,0,2|4: tensor a comes again",
        "id,size,first,last;,1,0,1|2: the id is empty",
        "id,size,first,last;a,1,0,1;b,2x2,0,1|3: the size has 2 dimensions, but those before it"
            + " have 1",
        "id,size,first,last;a,2x2x2,0,1;b,2,0,1|3: the size has 1 dimension, but those before it"
            + " have 3",
        "id,size,first,last;a,2x,0,1|2: dimension `` is not a whole number that fits 64 bits",
        "id,size,first,last;a,1x1x1x1x1,0,1|2: a shape has 5 dimensions; it needs 2 to 4",
        "id,size,first,last;\"a,1,0,1|2: a quote is not closed",
        "id,size,first,last;\"a\"b,1,0,1|2: something stands between a closing quote and the end of the cell",
      })
  void shouldNameTheLineWhenARecordIsWrong(String lines, String complaint) {
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> records(lines.replace(';', '\n')));

    assertEquals("x.csv:" + complaint, wrong.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "id,lower,upper,size;a,3,3,1|2: lower 3 is not less than upper 3",
        "id,lower,upper,size;a,4,3,1|2: lower 4 is not less than upper 3",
        "id,lower,upper,size;a,0,3,8388608T|2: size `8388608T` is not a whole number that fits 64"
            + " bits, such as 65536, 64K or 1MiB",
        "id,lower,upper,size;a,0,3,4KB|2: size `4KB` is not a whole number that fits 64 bits, such"
            + " as 65536, 64K or 1MiB",
        "id,lower,upper,size;a,0,3K,4|2: upper `3K` is not a whole number that fits 64 bits",
        "id,lower,upper,size;a,0,3,0x8000000000000000|2: size `0x8000000000000000` is not a whole"
            + " number that fits 64 bits, such as 65536, 64K or 1MiB",
        "id,lower,upper,size;a,0,3,4,5|2: has 5 fields, but the header has 4",
        "id,lower,upper,size;a,0,3|2: has 3 fields, but the header has 4",
        "ID,lower,upper,size,id;a,0,3,4,5|1: column `id` comes twice",
        "id,lower,begin,upper,size;a,0,0,3,4|1: columns `lower` and `begin` mean the same",
        "id,lower,upper,END,size;a,0,3,2,4|1: columns `upper` and `end` mean the same",
        "id,lower,upper,size;a,0,3,2x2|2: size `2x2` is not a whole number that fits 64 bits, such"
            + " as 65536, 64K or 1MiB",
      })
  void shouldNameTheLineWhenALifetimeIsWrong(String lines, String complaint) {
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> lifetimes(lines.replace(';', '\n')));

    assertEquals("x.csv:" + complaint, wrong.getMessage());
  }

  @Test
  void shouldNameTheFileWhenItHoldsNothing() {
    assertEquals(
        "x.csv: is empty; expected the header `id,lower,upper,size`",
        assertThrows(TraceFormatException.class, () -> lifetimes("\n")).getMessage());
    assertEquals(
        "x.csv: holds no tensor behind its header",
        assertThrows(TraceFormatException.class, () -> lifetimes("id,lower,upper,size\n"))
            .getMessage());
    assertEquals(
        "x.csv:2: is not text in UTF-8",
        assertThrows(
                TraceFormatException.class,
                () ->
                    LivesReader.read(
                        "x.csv",
                        "id,size,first,last\n\u00ff".getBytes(StandardCharsets.ISO_8859_1),
                        LivesReader.RECORDS_COLUMNS))
            .getMessage());
  }

  @Test
  void shouldKeepTheLoadWhenATraceIsMadeOfIt() throws IOException {
    Path file = SharedData.path("lifetimes/A.1048576.csv");
    TensorLifetimes read = TraceFormat.detect(file).readLifetimes(file, null);

    Trace trace = TraceFormat.detect(file).read(file, null);

    assertEquals(TraceFormat.LIFETIMES, TraceFormat.detect(file));
    assertEquals(Files.readAllLines(file).size() - 1, trace.tensorCount());
    assertEquals(LowerBounds.loadBytes(read.records()), trace.loadBytes());
    TensorLifetimes back = TensorLifetimes.of(trace);
    assertEquals(LowerBounds.loadBytes(read.records()), LowerBounds.loadBytes(back.records()));
    assertEquals(
        LowerBounds.objectsBytes(read.records()), LowerBounds.objectsBytes(back.records()));
  }

  @Test
  void shouldMakeIdsDistinctWhenATraceUsesThemAgain() {
    Trace trace =
        Trace.builder("t")
            .allocate("x", 1)
            .release("x")
            .allocate("x", 2)
            .allocate("x#2", 3)
            .release("x")
            .allocate("x", 4)
            .build();

    TensorLifetimes read = TensorLifetimes.of(trace);

    assertEquals(List.of("x", "x#3", "x#2", "x#4"), read.ids());
    assertEquals(new TensorUsageRecord(1, 0, 0), read.records().get(0));
    assertEquals(new TensorUsageRecord(2, 2, 3), read.records().get(1));
    assertTrue(
        read.toCsv(OffsetsAssignment.of(read.records(), new long[4], 1))
            .startsWith("id,lower,upper,size,offset\nx,0,1,1,0\nx#3,2,4,2,0\n"));
  }

  @Test
  void shouldTellTheFormatWhenTheHeaderSaysIt() throws IOException {
    Path file = Files.createTempFile("lives", ".csv");
    try {
      Files.writeString(file, "\nid,size,first,last,more\n");
      assertEquals(TraceFormat.RECORDS, TraceFormat.detect(file));
      Files.writeString(file, "more,upper,lower,id,size\n");
      assertEquals(TraceFormat.LIFETIMES, TraceFormat.detect(file));
    } finally {
      Files.delete(file);
    }
  }
}
