package io.prmalloc.jmh.server;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResidentPeak;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * The process of a server. It prints the port as its first line. For each line of its input it
 * prints what it has used. It exits at the end of its input.
 *
 * <p>Threading: one thread.
 */
public final class ServerMain {

  private ServerMain() {}

  /**
   * Serves until the standard input ends.
   *
   * @param args a name of {@link Buffers}, one of {@link Gathering}, and the number of event loops
   */
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
    ResourceLeakDetector.setLevel(Level.DISABLED);
    ByteBufAllocator buffers = Buffers.valueOf(args[0]).open();
    try (BodyServer server =
        new BodyServer(buffers, Gathering.valueOf(args[1]), Integer.parseInt(args[2]))) {
      out.println(server.port());
      BufferedReader questions =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      while (questions.readLine() != null) {
        out.println(
            ProcessHandle.current().info().totalCpuDuration().map(it -> it.toMillis()).orElse(0L)
                + " "
                + OperatingSystem.processMinorFaults()
                + " "
                + OperatingSystem.residentBytes()
                + " "
                + ResidentPeak.bytes()
                + " "
                + ((ByteBufAllocatorMetricProvider) buffers).metric().usedDirectMemory());
      }
    }
  }
}
