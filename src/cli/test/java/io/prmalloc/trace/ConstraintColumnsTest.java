package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorConstraints.Gap;
import io.prmalloc.plan.TensorUsageRecord;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConstraintColumnsTest {

  private static TensorLifetimes read(String text) {
    boolean isLifetimes =
        LivesReader.isHeader(text.lines().findFirst().orElseThrow(), LivesReader.LIFETIMES_COLUMNS);
    return LivesReader.read(
        "x.csv",
        text.getBytes(StandardCharsets.UTF_8),
        isLifetimes ? LivesReader.LIFETIMES_COLUMNS : LivesReader.RECORDS_COLUMNS);
  }

  private static TensorConstraints only(String text) {
    return read(text).records().get(0).constraints();
  }

  @Test
  void shouldReadEveryConstraint() {
    TensorConstraints read =
        only(
            """
            id,lower,upper,size,alignment,offset,hint,gaps
            a,0,20,0x10,4,1K,7,12-14@2:6  2-8
            """);

    assertEquals(
        TensorConstraints.NONE
            .withAlignment(4)
            .withOffset(1024)
            .withHint(7)
            .withGaps(List.of(new Gap(2, 7, 0, 0), new Gap(12, 13, 2, 6))),
        read);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a,0,9,4,,,,", "a,0,9,4,1,-1,-1,", "a,0,9,4,,-1,,\"\""})
  void shouldSeeNoneWhenCellsAreEmptyOrMinusOne(String row) {
    assertEquals(
        TensorConstraints.NONE, only("id,lower,upper,size,alignment,offset,hint,gaps\n" + row));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "buffer,start,end,size,gaps",
        "buffer_id,begin,end,size,gaps",
        "id,lower,END,size,gaps",
        "id,first,last,size,gaps"
      })
  void shouldIncludeTheEndOfGapsWhenTheEndOfLivesIsIncluded(String header) {
    TensorUsageRecord record = read(header + "\nb,0,8,4,2-2 5-8\n").records().get(0);

    assertEquals(8, record.lastTask());
    assertEquals(List.of(new Gap(2, 2, 0, 0), new Gap(5, 8, 0, 0)), record.constraints().gaps());
  }

  @ParameterizedTest
  @ValueSource(strings = {"start", "begin", "lower"})
  void shouldExcludeUpperWhateverTheBeginIsCalled(String begin) {
    assertEquals(2, read("buffer," + begin + ",upper,size\na,0,3,4\n").records().get(0).lastTask());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a,0,9,4,-8,,,|x.csv:2: alignment -8 is not from 1 to 1073741824",
        "a,0,9,4,0,,,|x.csv:2: alignment 0 is not from 1 to 1073741824",
        "a,0,9,4,x,,,|x.csv:2: alignment `x` is not a whole number that fits 64 bits, such as 65536,"
            + " 64K or 1MiB",
        "a,0,9,4,,-2,,|x.csv:2: offset -2 is not a multiple of 1 from 0",
        "a,0,9,4,4,6,,|x.csv:2: offset 6 is not a multiple of 4 from 0",
        "a,0,9,4,,,-3,|x.csv:2: hint -3 is negative; the least is 0",
        "a,0,9,4,,,,8|x.csv:2: gap `8` is not FROM-TO or FROM-TO@BYTE:BYTE, with blanks between gaps",
        "a,0,9,4,,,,2-4@1|x.csv:2: gap `2-4@1` is not FROM-TO or FROM-TO@BYTE:BYTE, with blanks"
            + " between gaps",
        "a,0,9,4,,,,-1-4|x.csv:2: gap `-1-4` is not FROM-TO or FROM-TO@BYTE:BYTE, with blanks between"
            + " gaps",
        "a,0,9,4,,,,2-x|x.csv:2: gap `x` is not a whole number that fits 64 bits",
        "a,0,9,4,,,,4-4|x.csv:2: gap `4-4` is empty",
        "a,0,9,4,,,,6-4|x.csv:2: gap `6-4` is empty",
        "a,0,9,4,,,,2-4 3-5|x.csv:2: two gaps share task 3; gaps must not overlap",
        "a,0,9,4,,,,2-10|x.csv:2: the gap from task 2 to 9 is not within the life from 0 to 8",
        "a,0,9,4,,,,2-4@3:5|x.csv:2: bytes [3, 5) of a gap are not within the size 4",
        "a,0,9,4,,,,2-4@3:2|x.csv:2: bytes [3, 2) are no part of a tensor",
      })
  void shouldNameLineAndReasonWhenAConstraintIsWrong(String row, String message) {
    assertEquals(
        message,
        assertThrows(
                TraceFormatException.class,
                () -> read("id,lower,upper,size,alignment,offset,hint,gaps\n" + row + "\n"))
            .getMessage());
  }

  @Test
  void shouldNameBothWhenFixedTensorsCollide() {
    assertEquals(
        "x.csv: fixed offsets cannot be kept: tensors c (line 4) and a (line 2) are both alive in"
            + " task 1 and share bytes from offset 3",
        assertThrows(
                TraceFormatException.class,
                () -> read("id,lower,upper,size,offset\na,1,4,4,0\nb,0,9,9,\nc,0,4,4,3\n"))
            .getMessage());
    assertEquals(2, read("id,lower,upper,size,offset,gaps\na,0,4,4,0,1-3\nc,1,3,4,3,\n").count());
  }

  @Test
  void shouldRefuseConstraintsOfShapes() {
    assertEquals(
        "x.csv:2: a shape has no offset, so there are no constraints to it",
        assertThrows(
                TraceFormatException.class,
                () -> read("id,size,first,last,alignment\na,2x8,0,1,4\n"))
            .getMessage());
  }

  @Test
  void shouldWarnOfColumnsThatNobodyKnows() {
    assertEquals(
        Optional.empty(),
        LivesReader.warning("Buffer,begin,END,size,alignment,offset,hint,gaps,uses"));
    assertEquals(Optional.empty(), LivesReader.warning("a x 12"));
    assertEquals(
        Optional.of("columns that nobody here knows are passed over: note, aligment"),
        LivesReader.warning("id,note,lower,upper,size,aligment"));
    assertEquals(
        Optional.of("columns that nobody here knows are passed over: end"),
        LivesReader.warning("id,first,last,size,end"));
  }

  @Test
  void shouldWriteConstraintsBackWithThePlan() {
    TensorLifetimes read = read("Buffer;start;end;size;offset;gaps\na;0;9;4;;2-7\nb;2;7;4;0;\n");
    String written = read.toCsv(MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(read.records(), 1));

    assertEquals("Buffer;start;end;size;offset;gaps\na;0;9;4;0;2-7\nb;2;7;4;0;\n", written);
    assertEquals(List.of(true, true), fixed(read(written)));
  }

  private static List<Boolean> fixed(TensorLifetimes tensors) {
    return tensors.records().stream().map(r -> r.constraints().offset().isPresent()).toList();
  }

  @Test
  void shouldNeverFailOtherwiseThanWithFileAndLineWhenCellsAreDamaged() {
    Random random = new Random(11);
    String row = "a,0,9,4,2,4,6,2-4@1:3 6-7";
    String signs = "0123456789-@:, xKa\"#;\t";
    int refused = 0;
    for (int i = 0; i < 5_000; i++) {
      StringBuilder damaged = new StringBuilder(row);
      for (int k = 1 + random.nextInt(3); k > 0; k--) {
        int at = random.nextInt(damaged.length());
        char sign = signs.charAt(random.nextInt(signs.length()));
        if (random.nextBoolean()) {
          damaged.setCharAt(at, sign);
        } else {
          damaged.insert(at, sign);
        }
      }
      String text =
          "id,lower,upper,size,alignment,offset,hint,gaps\n" + damaged + "\nb,0,9,8,,,,1-2\n";
      try {
        TensorLifetimes read = read(text);
        assertEquals(
            Optional.empty(),
            PlanValidator.fault(
                read.records(), MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(read.records(), 1)),
            text);
      } catch (TraceFormatException wrong) {
        refused++;
        assertTrue(wrong.getMessage().startsWith("x.csv:2: "), text + wrong.getMessage());
      }
    }
    assertTrue(refused > 500 && refused < 4_500, refused + " refused");
  }
}
