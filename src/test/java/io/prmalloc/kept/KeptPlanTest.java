package io.prmalloc.kept;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeptPlanTest {

  private static final long CHUNK = 32 * 1024 + 4096;

  private static final KeptPool POOL =
      new KeptPool(
          new LifetimePlan(
              4096,
              2 * CHUNK + (CHUNK + 4096),
              List.of(
                  new BinPlan(0, CHUNK, 64, 2, List.of(1)),
                  new BinPlan(1, CHUNK + 4096, 256, 1, List.of())),
              List.of(),
              1),
          List.of(2, 3));

  private static final KeptStep STEP =
      new KeptStep(
          "a", false, new long[] {100, 200, 100}, new int[] {2, 3, 3}, new long[] {0, 128, 0});

  private static final KeptPlan PLAN =
      new KeptPlan(
          Optional.of(POOL),
          List.of(
              STEP,
              new KeptStep(null, false, new long[] {1}, new int[] {1}, new long[] {64}),
              new KeptStep(7, false, new long[] {1}, new int[] {1}, new long[] {0}),
              new KeptStep(7L, false, new long[] {1}, new int[] {1}, new long[] {0})));

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("plan.json");
  }

  private String saved() throws IOException {
    PLAN.save(file());
    return Files.readString(file());
  }

  private String refused(String text) throws IOException {
    Files.writeString(file(), text);
    String message =
        assertThrows(PlanFormatException.class, () -> KeptPlan.load(file())).getMessage();
    assertTrue(message.startsWith(file() + ": "), message);
    return message.substring((file() + ": ").length());
  }

  @Test
  void shouldReadWhatItWrote() throws IOException {
    assertEquals(0, PLAN.save(file()));
    assertEquals(PLAN, KeptPlan.load(file()));
    KeptPlan empty = new KeptPlan(Optional.empty(), List.of());
    empty.save(file());
    assertEquals(empty, KeptPlan.load(file()));
    try (var files = Files.list(directory)) {
      assertEquals(1, files.count(), "nothing is left beside it");
    }
  }

  @Test
  void shouldReadAFileOfTheFirstVersion() throws IOException {
    // The checksum that the first version wrote for this plan.
    String first =
        saved()
            .replace("\"version\" : 3", "\"version\" : 1")
            .replace(
                PlanWriter.checksum(3, PLAN),
                "60ee855e6514373a26be85405777d296fc2497187ea5b8604a0c8b6ae51cae3b");
    Files.writeString(file(), first);
    assertEquals(PLAN, KeptPlan.load(file()));
  }

  @Test
  void shouldKeepTheLoadOfAPoolIfItIsKnown() throws IOException {
    KeptPlan learnt = new KeptPlan(Optional.of(POOL.withLoadBytes(123_456)), List.of(STEP));
    byte[] text = learnt.encode();
    assertEquals(learnt, KeptPlan.decode(text));
    learnt.save(file());
    assertEquals(learnt, KeptPlan.load(file()));
    String negative = Files.readString(file()).replace("123456", "-1");
    assertTrue(refused(negative).contains("loadBytes is -1, not from 0 to "));
  }

  @Test
  void shouldLeaveOutStepsWhoseKeyIsOfTheUsersOwnKind() throws IOException {
    KeptStep own = new KeptStep(new Object(), false, new long[] {1}, new int[] {1}, new long[] {0});
    assertEquals(1, new KeptPlan(Optional.empty(), List.of(STEP, own)).save(file()));
    assertEquals(List.of(STEP), KeptPlan.load(file()).steps());
  }

  @Test
  void shouldSayOfWhichStepsThePoolIsAsked() throws IOException {
    KeptPlan plan =
        new KeptPlan(
            Optional.empty(),
            List.of(STEP, new KeptStep("a", true, new long[] {64}, new int[] {1}, new long[] {0})));
    plan.save(file());
    assertEquals(plan, KeptPlan.load(file()));
    assertEquals(
        List.of(false, true),
        KeptPlan.load(file()).steps().stream().map(KeptStep::isImplicit).toList());
    String text = Files.readString(file());
    assertTrue(
        refused(text.replace("\"implicit\" : true", "\"implicit\" : 1"))
            .contains("VALUE_NUMBER_INT"));
    assertTrue(
        refused(text.replace("\"implicit\" : true", "\"implicit\" : false")).contains("checksum"));
  }

  @Test
  void shouldReadItAllTheSameWhenOnlyWhiteSpaceChanged() throws IOException {
    Files.writeString(file(), saved().replaceAll("\\s+", " "));
    assertEquals(PLAN, KeptPlan.load(file()));
  }

  @Test
  void shouldRefuseWhatIsNotThere() {
    assertThrows(NoSuchFileException.class, () -> KeptPlan.load(file()));
  }

  @Test
  void shouldRefuseEveryTruncation() throws IOException {
    String text = saved().strip();
    for (int length = 0; length < text.length(); length++) {
      refused(text.substring(0, length));
    }
  }

  @Test
  void shouldRefuseWhenAnyNumberIsChanged() throws IOException {
    String text = saved();
    int digits = 0;
    for (int i = 0; i < text.length(); i++) {
      if (Character.isDigit(text.charAt(i))) {
        char other = text.charAt(i) == '1' ? '2' : '1';
        refused(text.substring(0, i) + other + text.substring(i + 1));
        digits++;
      }
    }
    assertTrue(digits > 100, "the checksum's are among them");
  }

  @Test
  void shouldNeverThrowAnythingElseWhenTheFileIsGarbled() throws IOException {
    byte[] text = saved().getBytes(java.nio.charset.StandardCharsets.UTF_8);
    for (long seed = 0; seed < 3000; seed++) {
      Random random = new Random(seed);
      byte[] garbled = text.clone();
      for (int i = 0; i <= random.nextInt(4); i++) {
        garbled[random.nextInt(garbled.length)] = (byte) random.nextInt(256);
      }
      Files.write(file(), garbled);
      try {
        assertEquals(PLAN, KeptPlan.load(file()), "seed " + seed);
      } catch (PlanFormatException expected) {
        assertTrue(expected.getMessage().length() > 0, "seed " + seed);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"version\" : 3|\"version\" : 4|line 3: version is 4; 1 to 3 are understood",
        "\"version\" : 3|\"version\" : 0|line 3: version is 0; 1 to 3 are understood",
        "prmalloc-plan|other|format is 'other', not 'prmalloc-plan'",
        "\"format\"|\"fromat\"|line 2: field 'fromat' is not known",
        "\"sizesBytes\" : [ 100,|\"sizesBytes\" : [ 0,"
            + "|size of request 0 is 0, not from 1 to 2147483647",
        "\"ends\" : [ 2, 3|\"ends\" : [ 0, 3|end of request 0 is 0, not from 1 to 3",
        "\"ends\" : [ 2, 3|\"ends\" : [ 2, 4|end of request 1 is 4, not from 2 to 3",
        "\"borrowsFrom\" : [ 1 ]|\"borrowsFrom\" : [ 5 ]|bin 0 borrows from no bin, 5",
        "\"reserved\" : 2|\"reserved\" : 1|reserved of bin 0 is 1, not from 2 to 2147483647",
        "\"alignment\" : 256|\"alignment\" : 100|alignment of bin 1 is 100, not a power of two",
      })
  void shouldSayWhatIsWrong(String found, String replacement, String message) throws IOException {
    String text = saved();
    assertTrue(text.contains(found), text);
    assertEquals(message, refused(text.replaceFirst(Pattern.quote(found), replacement)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ends.*?2|4294967296|line 29: ends[0] is 4294967296, not from -2147483648 to 2147483647",
        "ends.*?2|-5|end of request 0 is -5, not from 1 to 3",
        "offsets.*?0|9223372036854775744"
            + "|offset of request 0 is 9223372036854775744, not from 0 to 9223372036854775707",
        "offsets.*?0|6400|bytes of a step is 6500, not from 0 to 1408",
        "index.*?0|1048568|index of a bin is 1048568, not from 0 to 1048567",
        "index.*?0|-1|index of a bin is -1, not from 0 to 1048567",
        "borrowsFrom.*?1|1, 1|bin 0 borrows twice from bin 1",
        "longKey.*?7|9223372036854775808"
            + "|line 41: longKey is 9223372036854775808, not from -9223372036854775808 to"
            + " 9223372036854775807",
        "sizesBytes.*?100|true|line 28, /plan/steps/0/sizesBytes/0: VALUE_NUMBER_INT expected,"
            + " not VALUE_TRUE",
      })
  void shouldNameTheFieldItsValueAndTheBound(String place, String number, String message)
      throws IOException {
    // The first number of such a field.
    String text = saved();
    Matcher found = Pattern.compile("\"(" + place + ")\\b", Pattern.DOTALL).matcher(text);
    assertTrue(found.find(), text);
    int start = found.end() - place.replaceAll(".*\\?", "").length();
    assertEquals(message, refused(text.substring(0, start) + number + text.substring(found.end())));
  }

  @Test
  void shouldShowNoMoreThanTheBeginningOfALongText() throws IOException {
    String text = saved();
    String digits = "1".repeat(900);
    String tooLarge = refused(text.replaceFirst("\"blocks\" : 2", "\"blocks\" : " + digits));
    assertTrue(tooLarge.contains("blocks is " + "1".repeat(80) + "..., not from"), tooLarge);
    String digitsMore = "1".repeat(2000);
    String tooLong = refused(text.replaceFirst("\"blocks\" : 2", "\"blocks\" : " + digitsMore));
    assertTrue(tooLong.contains("/plan/pool/bins/0/blocks: "), tooLong);
    String format = refused(text.replace("prmalloc-plan", "x".repeat(100_000)));
    assertEquals("format is '" + "x".repeat(80) + "...', not 'prmalloc-plan'", format);
  }

  @Test
  void shouldNotReadWithoutEndWhatSaysThatItHasNoBytes() {
    Path zeros = Path.of("/dev/zero");
    assumeTrue(Files.isReadable(zeros));
    String message =
        assertThrows(PlanFormatException.class, () -> KeptPlan.load(zeros, 1000)).getMessage();
    assertEquals("/dev/zero: 1001 bytes are more than a plan has; the most is 1000", message);
  }

  @Test
  void shouldRefuseOverlappingTensors() {
    String message =
        assertThrows(
                PlanFormatException.class,
                () ->
                    new KeptStep(
                        null, false, new long[] {100, 100}, new int[] {2, 2}, new long[] {0, 64}))
            .getMessage();
    assertTrue(message.startsWith("not a plan of its step: "), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r--r--", "rw-------", "rw-rw-r--", "r--r-----", "rw-rw-rw-"})
  void shouldKeepThePermissionsOfTheFileInWhosePlaceItComes(String permissions) throws IOException {
    assumePosix();
    Files.createFile(file());
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString(permissions));
    PLAN.save(file());
    assertEquals(permissions, PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
    assertEquals(PLAN, KeptPlan.load(file()));
  }

  @Test
  void shouldNameTheFileWhenItIsADirectory() {
    IOException refused = assertThrows(IOException.class, () -> KeptPlan.load(directory));
    assertTrue(refused.getMessage().startsWith(directory.toString()), refused.getMessage());
  }

  @Test
  void shouldGiveANewFileThePermissionsOfAnyNewFile() throws IOException {
    assumePosix();
    Path other = Files.createFile(directory.resolve("other"));
    PLAN.save(file());
    assertEquals(Files.getPosixFilePermissions(other), Files.getPosixFilePermissions(file()));
  }

  @Test
  void shouldKeepTheGroupWhereTheSystemLetsIt() throws IOException {
    assumePosix();
    Files.createFile(file());
    try {
      Files.setAttribute(file(), "unix:gid", 12345);
    } catch (IOException | IllegalArgumentException e) {
      assumeTrue(false, "only the superuser may give a file to any group");
    }
    PLAN.save(file());
    assertEquals(12345, Files.getAttribute(file(), "unix:gid"));
  }

  @Test
  void shouldReplaceWhatASymbolicLinkLeadsTo() throws IOException {
    assumePosix();
    Path store = Files.createDirectory(directory.resolve("store"));
    Path real = store.resolve("real.json");
    Path first = Files.createSymbolicLink(directory.resolve("first"), Path.of("store/real.json"));
    Files.createSymbolicLink(file(), Path.of("first"));
    for (int saves = 0; saves < 2; saves++) {
      PLAN.save(file());
      assertTrue(Files.isSymbolicLink(file()) && Files.isSymbolicLink(first));
      assertTrue(Files.isRegularFile(real, LinkOption.NOFOLLOW_LINKS), "there from the first on");
      assertEquals(PLAN, KeptPlan.load(file()));
    }
    try (var files = Files.list(store)) {
      assertEquals(List.of(real), files.toList(), "nothing is left beside it");
    }
  }

  @Test
  void shouldRefuseLinksThatLeadNowhere() throws IOException {
    assumePosix();
    Path other = directory.resolve("other");
    Files.createSymbolicLink(file(), other);
    Files.createSymbolicLink(other, file());
    String message = assertThrows(FileSystemException.class, () -> PLAN.save(file())).getMessage();
    assertEquals(file() + ": is a symbolic link to one of more than 40", message);
    assertTrue(Files.isSymbolicLink(file()));
  }

  @Test
  void shouldWriteToAPipeAndNotReplaceIt() throws Exception {
    assumePosix();
    assumeTrue(new ProcessBuilder("mkfifo", file().toString()).start().waitFor() == 0);
    CompletableFuture<byte[]> read = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                read.complete(Files.readAllBytes(file()));
              } catch (IOException e) {
                read.completeExceptionally(e);
              }
            });
    reader.setDaemon(true);
    reader.start();
    PLAN.save(file());
    assertFalse(Files.isRegularFile(file()));
    Path copy = Files.write(directory.resolve("copy"), read.get());
    assertEquals(PLAN, KeptPlan.load(copy));
  }

  private void assumePosix() {
    assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("posix"));
  }

  @Test
  void shouldKeepTheOldFileWhenTheNewOneCannotBeWritten() throws IOException {
    Path nowhere = directory.resolve("no such directory").resolve("plan.json");
    assertThrows(IOException.class, () -> PLAN.save(nowhere));
    Path occupied = Files.createDirectory(directory.resolve("taken"));
    Files.createFile(occupied.resolve("inside"));
    assertThrows(IOException.class, () -> PLAN.save(occupied));
    assertTrue(Files.exists(occupied.resolve("inside")));
  }
}
