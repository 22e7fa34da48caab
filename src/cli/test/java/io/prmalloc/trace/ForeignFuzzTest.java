package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Broken files in the formats of other tools: each is read, or refused with the documented
 * exception, and costs memory in proportion to its length.
 *
 * <p>A long run: {@code mvn test -pl src/cli -am -Dtest=ForeignFuzzTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dprmalloc.fuzz.inputs=50000000}.
 */
@Tag("jdk-independent")
class ForeignFuzzTest {

  private static final int INPUTS = Integer.getInteger("prmalloc.fuzz.inputs", 20_000) / 50;

  /** What loading classes and buffers of streams take. */
  private static final long LEAST_BYTES = 4 << 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final String TABLE =
      "# c\nID;Lower;Upper;Size;Thread;\na;0;2;0x10;1;\n\"b;c\";1;3;4K;2;\n;;;;\nc;2;9;5;;\n";

  /** Parts of the formats that are put where they do not belong. */
  private static final String[] WORDS = {
    "a ",
    "f ",
    "r ",
    "\n",
    "#",
    "-1",
    "0x",
    "99999999999999999999",
    "4K",
    ",",
    ";",
    "\t",
    "\"",
    "{",
    "}",
    "[",
    "]",
    "\"action\":",
    "\"alloc\"",
    "\"free_completed\"",
    "\"segments\":[",
    "1e9",
    "null",
    "\u0000",
    "\u001f\u008b",
    "\5\0\0\0\0\0\0\0",
    "\22\377\377\377\377\377\377\377\377"
  };

  enum Sample {
    MALLOC,
    IDEALLOC,
    SNAPSHOT,
    LIFETIMES,
    EVENTS,
    PACKED;

    private byte[] bytes() {
      return switch (this) {
        case MALLOC -> ForeignTraces.utf8(ForeignTraces.MALLOC);
        case IDEALLOC -> ForeignTraces.idealloc();
        case SNAPSHOT -> ForeignTraces.utf8(ForeignTraces.SNAPSHOT);
        case LIFETIMES -> ForeignTraces.utf8(TABLE);
        case EVENTS -> ForeignTraces.utf8("# c\na x 0x10 1\nr x 4K 2\nf x 0 1\n");
        case PACKED -> ForeignTraces.gzip(ForeignTraces.utf8(ForeignTraces.MALLOC));
      };
    }

    private TraceFormat format() {
      return this == PACKED ? TraceFormat.MALLOC : TraceFormat.valueOf(name());
    }
  }

  @TempDir private Path directory;

  private int read;
  private int refused;

  private void tryToRead(String what, byte[] bytes, TraceFormat format) {
    Path file = directory.resolve("fuzz");
    long before;
    try {
      Files.write(file, bytes);
      before = THREADS.getCurrentThreadAllocatedBytes();
      new TraceInput(file.toString(), format, null).read();
      read++;
    } catch (TraceFormatException documented) {
      refused++;
      String message = documented.getMessage();
      if (!message.startsWith(file.toString())
          || message.length() > file.toString().length() + 500) {
        throw new AssertionError(what + ": message " + message, documented);
      }
      return;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error undocumented) {
      throw new AssertionError(what + ": " + undocumented, undocumented);
    }
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    // A byte of a packed file may be a thousand.
    if (allocated > LEAST_BYTES + 300_000L * bytes.length) {
      throw new AssertionError(what + ": took " + allocated + " bytes of heap");
    }
  }

  private void tryAll(Sample sample, UnaryOperator<byte[]> breaking, int inputs) {
    for (int seed = 0; seed < inputs; seed++) {
      byte[] broken =
          breaking.apply(new byte[] {(byte) seed, (byte) (seed >> 8), (byte) (seed >> 16)});
      tryToRead(sample + ", seed " + seed, broken, seed % 2 == 0 ? null : sample.format());
    }
  }

  private static SplittableRandom random(byte[] seed) {
    return new SplittableRandom(
        Byte.toUnsignedInt(seed[0])
            | Byte.toUnsignedInt(seed[1]) << 8
            | Byte.toUnsignedInt(seed[2]) << 16);
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadOrRefuseWhenTheFileIsCutShort(Sample sample) {
    for (int length = 0; length < sample.bytes().length; length++) {
      tryToRead(
          sample + ", first " + length + " bytes",
          Arrays.copyOf(sample.bytes(), length),
          sample.format());
    }
    assertTrue(refused > 5, "refused " + refused);
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadOrRefuseWhenBytesAreOverwritten(Sample sample) {
    tryAll(
        sample,
        seed -> {
          SplittableRandom random = random(seed);
          byte[] broken = sample.bytes().clone();
          for (int i = random.nextInt(1, 4); i > 0; i--) {
            broken[random.nextInt(broken.length)] ^= (byte) (1 << random.nextInt(8));
          }
          return broken;
        },
        INPUTS);
    assertBothHappened();
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadOrRefuseWhenPartsStandElsewhere(Sample sample) {
    tryAll(
        sample,
        seed -> {
          SplittableRandom random = random(seed);
          byte[] word = WORDS[random.nextInt(WORDS.length)].getBytes(StandardCharsets.ISO_8859_1);
          if (random.nextBoolean()) {
            int from = random.nextInt(sample.bytes().length);
            word =
                Arrays.copyOfRange(
                    sample.bytes(),
                    from,
                    Math.min(sample.bytes().length, from + random.nextInt(1, 40)));
          }
          int at = random.nextInt(sample.bytes().length + 1);
          int kept = Math.min(sample.bytes().length, at + random.nextInt(0, 20));
          byte[] broken = new byte[at + word.length + sample.bytes().length - kept];
          System.arraycopy(sample.bytes(), 0, broken, 0, at);
          System.arraycopy(word, 0, broken, at, word.length);
          System.arraycopy(
              sample.bytes(), kept, broken, at + word.length, sample.bytes().length - kept);
          return broken;
        },
        INPUTS);
    assertTrue(refused > 20, "refused " + refused);
  }

  private void assertBothHappened() {
    assertTrue(read > 0, "read " + read);
    assertTrue(refused > 20, "refused " + refused);
  }
}
