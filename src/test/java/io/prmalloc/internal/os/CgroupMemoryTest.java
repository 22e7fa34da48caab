package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupMemoryTest {

  private static final OptionalLong NONE = OptionalLong.empty();

  @TempDir private Path root;

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private OptionalLong limit() {
    return CgroupMemory.limitBytes(root);
  }

  @Test
  void shouldTellNothingWhenThereAreNoFiles() {
    assertEquals(NONE, limit());
  }

  @Test
  void shouldReadVersionTwoInsideAContainer() throws IOException {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "536870912\n");
    assertEquals(OptionalLong.of(512L << 20), limit());
    write("sys/fs/cgroup/memory.max", "max\n");
    assertEquals(NONE, limit());
  }

  @Test
  void shouldTakeTheLeastOfTheGroupAndThoseAboveWhenVersionTwoNests() throws IOException {
    write("proc/self/cgroup", "0::/kubepods.slice/pod1/app\n");
    write("sys/fs/cgroup/kubepods.slice/pod1/app/memory.max", "max\n");
    write("sys/fs/cgroup/kubepods.slice/pod1/memory.max", "1000\n");
    write("sys/fs/cgroup/kubepods.slice/memory.max", "2000\n");
    assertEquals(OptionalLong.of(1000), limit());
    write("sys/fs/cgroup/kubepods.slice/pod1/app/memory.max", "900\n");
    assertEquals(OptionalLong.of(900), limit());
  }

  @Test
  void shouldReadVersionOne() throws IOException {
    write("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/docker/ab\n0::/\n");
    write("sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "3000\n");
    // So version 1 says that there is none.
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertEquals(OptionalLong.of(3000), limit());
    write("sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "9223372036854771712\n");
    assertEquals(NONE, limit());
  }

  @Test
  void shouldFindTheMountItselfWhenThePathIsTheHosts() throws IOException {
    write("proc/self/cgroup", "4:hugetlb,memory:/docker/ab\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000\n");
    assertEquals(OptionalLong.of(4000), limit());
    write("proc/self/cgroup", "0::/../../pod\n");
    write("sys/fs/cgroup/memory.max", "5000\n");
    write("memory.max", "1\n");
    assertEquals(OptionalLong.of(5000), limit());
  }

  @Test
  void shouldTellNothingWhenFilesHoldSomethingElse() throws IOException {
    write("proc/self/cgroup", "nonsense\n1:2\n4:memory:/\n0::/a\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "-1\n");
    write("sys/fs/cgroup/a/memory.max", "many\n");
    assertEquals(NONE, limit());
  }

  /** Lines of {@code /proc/self/mountinfo}, with the separator and optional fields as they come. */
  private void mount(String... lines) throws IOException {
    write("proc/self/mountinfo", String.join("\n", lines) + "\n");
  }

  @Test
  void shouldReadWhereTheGroupsAreMountedWhenThatIsElsewhere() throws IOException {
    write("proc/self/cgroup", "0::/app\n");
    mount(
        "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
        "25 20 0:22 / /groups\\040here rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw");
    write("groups here/app/memory.max", "6000\n");
    assertEquals(OptionalLong.of(6000), limit());
    write("groups here/memory.max", "5000\n");
    assertEquals(OptionalLong.of(5000), limit());
  }

  @Test
  void shouldReadVersionOneWhenMemoryIsMountedTogetherWithAnother() throws IOException {
    write("proc/self/cgroup", "4:cpu,memory:/docker/ab\n3:pids:/docker/ab\n");
    mount(
        "30 20 0:30 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
        "31 20 0:31 / /sys/fs/cgroup/cpu,memory rw - cgroup cgroup rw,cpu,memory");
    write("sys/fs/cgroup/cpu,memory/docker/ab/memory.limit_in_bytes", "7000\n");
    write("sys/fs/cgroup/pids/docker/ab/memory.limit_in_bytes", "1\n");
    assertEquals(OptionalLong.of(7000), limit());
  }

  @Test
  void shouldReadBothVersionsWhenASystemHasBoth() throws IOException {
    write("proc/self/cgroup", "4:memory:/a\n0::/a\n");
    mount(
        "31 20 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
        "32 20 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8000\n");
    assertEquals(OptionalLong.of(8000), limit());
    write("sys/fs/cgroup/unified/a/memory.max", "3000\n");
    assertEquals(OptionalLong.of(3000), limit());
  }

  @Test
  void shouldReadTheGroupInTheMountWhenAGroupAboveIsMounted() throws IOException {
    write("proc/self/cgroup", "4:memory:/docker/ab/inner\n");
    mount("31 20 0:31 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
    write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "2000\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
    assertEquals(OptionalLong.of(2000), limit());
    write("proc/self/cgroup", "4:memory:/docker/abc\n");
    assertEquals(OptionalLong.of(9000), limit());
  }

  @Test
  void shouldLeaveTheGroupsOfOthersOutWhenTheyAreMountedAsWell() throws IOException {
    write("proc/self/cgroup", "0::/service\n");
    mount(
        "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
        "26 20 0:22 /docker/ab /var/container/sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    write("sys/fs/cgroup/service/memory.max", "9000\n");
    write("var/container/sys/fs/cgroup/memory.max", "1000\n");
    assertEquals(OptionalLong.of(9000), limit());
  }

  @Test
  void shouldReadTheUsualPlacesWhenMountsTellNothing() throws IOException {
    write("proc/self/cgroup", "0::/a\n");
    write("sys/fs/cgroup/a/memory.max", "4000\n");
    mount("", "nonsense", "1 2 - cgroup2", " - ", "20 1 8:1 / / rw - ext4 /dev/sda1 rw");
    assertEquals(OptionalLong.of(4000), limit());
  }

  /** In the locale C a JVM names no file outside of ASCII, and nowhere one with this in it. */
  @Test
  void shouldReadTheGroupsAboveWhenTheGroupsNameIsNoName() throws IOException {
    write("proc/self/cgroup", "0::/a\0b\n");
    write("sys/fs/cgroup/memory.max", "4000\n");
    assertEquals(OptionalLong.of(4000), limit());
    mount("25 20 0:22 / /a\0b rw - cgroup2 cgroup2 rw");
    assertEquals(OptionalLong.of(4000), limit());
  }
}
