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
}
