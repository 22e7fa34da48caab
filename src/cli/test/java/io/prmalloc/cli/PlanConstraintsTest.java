package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables with constraints, as the command line plans them. */
@Tag("jdk-independent")
class PlanConstraintsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  // Gaps: c fits into that of a; d beside what stays in use.
  private static final String GAPS =
      "id,lower,upper,size,gaps\na,0,10,8,2-8@0:4\nc,2,8,4,\nd,8,10,2,\n";
  // Without alignments 16 bytes would be enough: 6 + 4 + 4 + 2.
  private static final String ALIGNED =
      "id,lower,upper,size,alignment\na,0,4,6,8\nb,0,4,4,8\nc,0,4,4,8\nd,0,4,2,1\n";
  private static final String FIXED = "id,lower,upper,size,offset\na,0,2,4,12\nb,0,2,6,0\n";
  private static final String INCLUDED = "buffer,start,end,size\na,0,2,4\nb,2,5,4\nc,6,8,8\n";

  @TempDir private Path directory;

  private String file(String text) throws IOException {
    return Files.writeString(directory.resolve("in.csv"), text).toString();
  }

  private static JsonNode plan(String strategy, String... args) throws IOException {
    Outcome outcome =
        Outcome.of(
            Stream.concat(
                    Stream.of("plan", "--kind=offsets", "--json", "--strategy=" + strategy),
                    Stream.of(args))
                .toArray(String[]::new));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    JsonNode result = JSON.readTree(outcome.out()).get("results").get(0);
    assertTrue(result.get("valid").asBoolean(), outcome.out());
    return result;
  }

  @ParameterizedTest
  @ValueSource(strings = {"exact", "greedy-by-size", "heuristic"})
  void shouldObserveConstraintsWhenAStrategyMakesOffsets(String strategy) throws IOException {
    boolean isExact = strategy.equals("exact");

    JsonNode gaps = plan(strategy, file(GAPS));
    assertEquals(10, gaps.get("totalBytes").asLong());
    assertEquals(gaps.get("offsets").get("a").asLong() + 4, gaps.get("offsets").get("c").asLong());
    if (isExact) {
      assertTrue(gaps.get("optimal").asBoolean());
    }

    JsonNode aligned = plan(strategy, file(ALIGNED));
    assertTrue(aligned.get("totalBytes").asLong() >= 20, aligned.toString());
    for (String id : List.of("a", "b", "c")) {
      assertEquals(0, aligned.get("offsets").get(id).asLong() % 8, aligned.toString());
    }
    if (isExact) {
      assertEquals(20, aligned.get("totalBytes").asLong());
      assertTrue(aligned.get("optimal").asBoolean());
    }

    JsonNode fixed = plan(strategy, file(FIXED));
    assertEquals(JSON.readTree("{\"a\":12,\"b\":0}"), fixed.get("offsets"));
    assertEquals(16, fixed.get("totalBytes").asLong());

    JsonNode included = plan(strategy, file(INCLUDED));
    long least = strategy.equals("heuristic") ? 128 : 8;
    assertEquals(least, included.get("totalBytes").asLong());
  }

  @Test
  void shouldSkipOthersWithAReasonAndRefuseThemByName() throws IOException {
    Outcome all = Outcome.of("plan", file(FIXED));
    assertEquals(0, all.exitCode());
    assertTrue(
        all.out()
            .contains(
                "skipped: naive cannot observe the constraints of tensors; tensor a has a fixed"
                    + " offset"),
        all.out());

    Outcome named = Outcome.of("plan", file(FIXED), "--strategy", "equality");
    assertEquals(2, named.exitCode());
    assertTrue(named.err().contains("equality cannot observe"), named.err());
  }

  @Test
  void shouldSkipObjectsWhenANamedStrategyObservesConstraintsByOffsets() throws IOException {
    Outcome outcome =
        Outcome.of("plan", file(GAPS), "--strategy=greedy-by-size,heuristic", "--json");
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    JsonNode results = JSON.readTree(outcome.out()).get("results");
    assertEquals(
        "greedy-by-size by objects cannot observe the constraints of tensors; tensor a has gaps",
        results.get(0).get("skipped").asText());
    assertEquals(10, results.get(1).get("totalBytes").asLong());
    assertEquals(10, results.get(2).get("totalBytes").asLong());

    Outcome objects = Outcome.of("plan", file(GAPS), "--strategy=greedy-by-size", "--kind=objects");
    assertEquals(2, objects.exitCode());
    assertTrue(objects.err().contains("in.csv: greedy-by-size by objects cannot"), objects.err());

    Outcome search =
        Outcome.of("plan", file(GAPS), "--strategy=heuristic", "--search=swaps", "--timeout=1");
    assertEquals(2, search.exitCode());
    assertTrue(
        search.err().contains("heuristic's search cannot observe the constraints"), search.err());
  }

  @Test
  void shouldFailWhenNoStrategyObservesTheConstraints() throws IOException {
    Path out = directory.resolve("out.csv");
    Outcome outcome = Outcome.of("plan", file(GAPS), "--kind=objects", "--out=" + out);
    assertEquals(1, outcome.exitCode());
    assertTrue(
        outcome
            .err()
            .contains(
                "no strategy made a plan: naive cannot observe the constraints of tensors; tensor a"
                    + " has gaps"),
        outcome.err());
    assertTrue(Files.notExists(out));
  }

  @Test
  void shouldNameFileAndBoundWhenSizesAreTooLargeForConstraints() throws IOException {
    String file = file("id,lower,upper,size,offset\na,0,9,4611686018427387904,8\n");
    for (String strategy : List.of("all", "exact", "greedy-by-size", "heuristic")) {
      Outcome outcome = Outcome.of("plan", file, "--strategy=" + strategy);
      assertEquals(2, outcome.exitCode());
      assertEquals(
          "prmalloc: "
              + file
              + ": size 4611686018427387904 with an alignment of 1 takes the sum of all, behind"
              + " fixed tensors that end at 4611686018427387912, over 2305843009213693952, at which"
              + " plans under constraints end\n",
          outcome.err());
    }
  }

  @Test
  void shouldSayInfeasibleByNameWhenAFixedTensorEndsAboveTheCapacity() throws IOException {
    Outcome outcome = Outcome.of("plan", file(FIXED), "--strategy=exact", "--capacity=15");
    assertEquals(1, outcome.exitCode());
    assertTrue(
        outcome.err().contains("infeasible: tensor a is fixed at offset 12 and ends at 16"),
        outcome.err());

    Outcome alignment = Outcome.of("plan", file(FIXED), "--strategy=exact", "--alignment=8");
    assertEquals(2, alignment.exitCode());
    assertTrue(
        alignment
            .err()
            .contains("in.csv: tensor a is fixed at offset 12, no multiple of the alignment 8"),
        alignment.err());
  }

  /** The columns that are needed, and gaps, stand behind thousands of bytes. */
  @Test
  void shouldReadAHeaderOfManyColumns() throws IOException {
    int more = 1500;
    StringBuilder header = new StringBuilder("id,lower,upper");
    for (int i = 0; i < more; i++) {
      header.append(",column").append(i);
    }
    String table = header + ",size,gaps\na,0,10" + ",".repeat(more) + ",8,2-8\n";

    Outcome told = Outcome.of("plan", file(table), "--strategy=exact");
    assertEquals(0, told.exitCode());
    assertTrue(told.err().contains("are passed over: column0, column1"), told.err());
    Outcome simulated = Outcome.of("simulate", file(table));
    assertEquals(0, simulated.exitCode());
    assertTrue(simulated.err().contains("only plan observes the columns gaps"), simulated.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--alignment=64", "--capacity=2", "--memory=fast=8,slow=8"})
  void shouldShowNoControlCharactersOfAnId(String option) throws IOException {
    String file = file("id,lower,upper,size,offset,memory\na\u001b[31m,0,1,4,4,x\n");
    Outcome outcome = Outcome.of("plan", file, option);
    assertTrue(outcome.err().contains("tensor a?[31m "), outcome.err());
  }

  @Test
  void shouldWarnOnceOfUnknownColumns() throws IOException {
    Outcome outcome =
        Outcome.of(
            "plan", file("id,lower,upper,size,colour\na,0,1,4,red\nb,0,1,4,blue\n"), "--json");
    assertEquals(0, outcome.exitCode());
    assertEquals(1, outcome.err().lines().count());
    assertTrue(
        outcome.err().contains("columns that nobody here knows are passed over: colour"),
        outcome.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--strategy=exact", "--memory=fast=64,slow=64"})
  void shouldWarnOnceOfHintsThatNoPlanCanKeep(String option) throws IOException {
    String table =
        """
        id,lower,upper,size,alignment,hint
        a,0,1,4,,12
        b,0,1,4,,16
        c,0,1,4,16,24
        d,0,1,4,,5
        """;
    Outcome outcome = Outcome.of("plan", file(table), option, "--alignment=8");
    assertEquals(0, outcome.exitCode());
    assertEquals(
        "prmalloc: warning: "
            + directory.resolve("in.csv")
            + ": hint 12 of tensor a is no multiple of the alignment and is passed over, and so are 2"
            + " more\n",
        outcome.err());
    assertEquals("", Outcome.of("plan", file("id,lower,upper,size,hint\na,0,1,4,3\n")).err());
  }

  @Test
  void shouldPlanAgainWhatItWrote() throws IOException {
    Path out = directory.resolve("out.csv");
    plan("exact", file(GAPS), "--out=" + out);
    String written = Files.readString(out);
    assertTrue(written.startsWith("id,lower,upper,size,gaps,offset\na,0,10,8,2-8@0:4,"), written);
    assertEquals(10, plan("greedy-by-size", out.toString()).get("totalBytes").asLong());
  }

  @Test
  void shouldPutTheMostUsedPerByteIntoTheFastMemory() throws IOException {
    String table =
        """
        id,lower,upper,size,uses
        big,0,9,1024,40
        hot,0,9,64,60
        warm,0,4,64,8
        late,5,9,64,7
        cold,0,9,64,1
        """;
    Outcome outcome = Outcome.of("plan", file(table), "--memory=sram=128,dram=1280", "--json");
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    JsonNode report = JSON.readTree(outcome.out());
    assertTrue(report.get("objective").asText().contains("uses per byte"));
    JsonNode fast = report.get("memories").get(0);
    JsonNode slow = report.get("memories").get(1);
    assertEquals(JSON.readTree("{\"hot\":0,\"warm\":64,\"late\":64}"), fast.get("offsets"));
    assertEquals(75, fast.get("uses").asLong());
    assertEquals(128, fast.get("totalBytes").asLong());
    assertEquals(JSON.readTree("{\"big\":0,\"cold\":1024}"), slow.get("offsets"));
    assertTrue(fast.get("valid").asBoolean() && slow.get("valid").asBoolean());

    Outcome text = Outcome.of("plan", file(table), "--memory=sram=128,dram=1280");
    assertTrue(
        text.out().contains("objective: the most uses served by the fast memory"), text.out());

    Outcome small = Outcome.of("plan", file(table), "--memory=sram=128,dram=1K");
    assertEquals(1, small.exitCode());
    assertTrue(
        small
            .err()
            .contains(
                "capacity 1024 of dram is not reached; the smallest plan found of what is left needs"
                    + " 1088"),
        small.err());
  }

  @Test
  void shouldRefuseUsesWhoseSumIsTooLarge() throws IOException {
    String file = file("id,lower,upper,size,uses\na,0,1,4,9223372036854775807\nb,0,1,4,1\n");
    Outcome outcome = Outcome.of("plan", file, "--memory=fast=8,slow=8");
    assertEquals(2, outcome.exitCode());
    assertEquals(
        "prmalloc: " + file + ":3: uses 1 take the sum of all uses over 2^63 - 1\n", outcome.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"fast", "fast=1M", "a=1,b=2,c=3", "a=1,a=2", "a=x,b=2", "a=-1,b=2", "=1,b=2"})
  void shouldRefuseMemoriesThatAreNotTwo(String memories) throws IOException {
    Outcome outcome = Outcome.of("plan", file(ALIGNED), "--memory=" + memories);
    assertEquals(2, outcome.exitCode());
    assertTrue(outcome.err().contains("memor"), outcome.err());
  }

  @Test
  void shouldRefuseWhatDoesNotGoWithTwoMemories() throws IOException {
    for (String option :
        List.of(
            "--strategy=exact",
            "--report=x",
            "--capacity=9",
            "--order=size",
            "--search=swaps",
            "--seed=2",
            "--tries=9")) {
      Outcome outcome = Outcome.of("plan", file(ALIGNED), "--memory=a=8,b=80", option);
      assertEquals(2, outcome.exitCode());
      assertEquals(
          "prmalloc: " + option.replaceAll("=.*", "") + " does not go with --memory\n",
          outcome.err());
    }
  }

  // b does not fit into the fast memory where it is fixed; d and f share bytes in two memories.
  private static final String BOUND =
      """
      id,lower,upper,size,offset,memory,uses
      a,0,4,16,16,,9
      b,0,4,16,112,,9
      c,0,4,16,,slow,90
      d,0,4,16,0,slow,1
      e,0,4,8,,,8
      f,0,4,16,0,fast,
      """;

  private JsonNode memories(String file, String... options) throws IOException {
    Outcome outcome =
        Outcome.of(
            Stream.concat(
                    Stream.of("plan", file, "--memory=fast=64,slow=128", "--json"),
                    Stream.of(options))
                .toArray(String[]::new));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    return JSON.readTree(outcome.out()).get("memories");
  }

  @Test
  void shouldKeepFixedOffsetsInTwoMemories() throws IOException {
    JsonNode memories = memories(file(BOUND));

    assertEquals(JSON.readTree("{\"a\":16,\"e\":32,\"f\":0}"), memories.get(0).get("offsets"));
    assertEquals(JSON.readTree("{\"b\":112,\"c\":16,\"d\":0}"), memories.get(1).get("offsets"));
    assertEquals(19, memories.get(0).get("uses").asLong());
  }

  @ParameterizedTest
  @ValueSource(strings = {"BOUND", "GAPS", "sample:mobilenet-v1"})
  void shouldPlanTwoMemoriesAgainFromWhatItWrote(String input) throws IOException {
    String file =
        switch (input) {
          case "BOUND" -> file(BOUND);
          case "GAPS" -> file(GAPS);
          default -> input;
        };
    String sizes =
        input.startsWith("sample") ? "--memory=fast=500K,slow=4M" : "--memory=fast=64,slow=128";
    Path out = directory.resolve("out.csv");
    String first = Outcome.of("plan", file, sizes, "--out=" + out, "--json").out();
    Outcome again = Outcome.of("plan", out.toString(), sizes, "--json");

    assertEquals("", again.err());
    assertEquals(0, again.exitCode());
    assertEquals(JSON.readTree(first).get("memories"), JSON.readTree(again.out()).get("memories"));
    if (input.equals("BOUND")) {
      assertTrue(Files.readString(out).contains("\ne,0,4,8,32,fast,8\nf,0,4,16,0,fast,\n"));
    }
  }

  @Test
  void shouldWriteNoPlanThatIsTooLargeForItsMemory() throws IOException {
    Path out = directory.resolve("out.csv");

    Outcome outcome = Outcome.of("plan", file(BOUND), "--memory=fast=8,slow=128", "--out=" + out);

    assertEquals(1, outcome.exitCode());
    assertEquals(
        "prmalloc: capacity 8 of fast is not reached; the smallest plan found of what must lie there"
            + " needs 16; "
            + out
            + " is not written\n",
        outcome.err());
    assertFalse(Files.exists(out));
  }

  @Test
  void shouldRefuseTwoMemoriesThatCannotBe() throws IOException {
    String bound = file(BOUND);
    Outcome other = Outcome.of("plan", bound, "--memory=sram=64,dram=128");
    assertEquals(2, other.exitCode());
    assertEquals(
        "prmalloc: "
            + bound
            + ": tensor c must lie in the memory `slow`; there are sram and dram\n",
        other.err());

    Outcome unaligned =
        Outcome.of("plan", bound, "--memory=fast=64,slow=128", "--alignment=32", "--json");
    assertEquals(2, unaligned.exitCode());
    assertTrue(unaligned.err().contains("tensor a is fixed at offset 16"), unaligned.err());

    String same = "id,lower,upper,size,offset,memory\na,0,4,8,0,slow\nb,0,4,8,4,\nc,0,4,4,,fast\n";
    Outcome conflict = Outcome.of("plan", file(same), "--memory=fast=8,slow=8");
    assertEquals(1, conflict.exitCode());
    assertTrue(
        conflict.err().contains("of what comes to slow, fixed offsets cannot be kept: "),
        conflict.err());

    Outcome line =
        Outcome.of("plan", file(same.replace("4,\n", "4,slow\n")), "--memory=fast=8,slow=8");
    assertEquals(2, line.exitCode());
    assertTrue(line.err().contains("a (line 2)") && line.err().contains("b (line 3)"), line.err());
  }

  @Test
  void shouldSayThatMemoriesMeanNothingToASinglePlan() throws IOException {
    Outcome apart =
        Outcome.of("plan", file("id,lower,upper,size,memory\na,0,1,4,fast\n"), "--strategy=exact");
    assertEquals(0, apart.exitCode());
    assertTrue(
        apart.err().endsWith(": the column memory is passed over without --memory\n"), apart.err());

    Outcome shared = Outcome.of("plan", file(BOUND));
    assertEquals(2, shared.exitCode());
    assertTrue(shared.err().contains("fixed offsets cannot be kept in one memory: "), shared.err());
    assertTrue(shared.err().endsWith("; --memory plans two\n"), shared.err());
  }
}
