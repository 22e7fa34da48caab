package io.prmalloc.example.client;

import io.prmalloc.example.model.SampleNetwork;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * One connection to the server, as cheap as possible, so that the client's own cost does not
 * distort the measurement. Connects to this machine only.
 *
 * <p>Threading: one thread.
 */
public final class LoadClient implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 60_000;
  private static final String LENGTH = "content-length";

  private final Socket socket;
  private final OutputStream out;
  private final InputStream in;

  /** An answer. Threading: immutable but for the array. */
  public record Answer(int status, Map<String, String> headers, ByteBuffer body) {
    public String text() {
      return StandardCharsets.UTF_8.decode(body.duplicate()).toString();
    }
  }

  public LoadClient(URI server) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    out = socket.getOutputStream();
    in = new BufferedInputStream(socket.getInputStream(), 64 << 10);
  }

  /** A whole request for an inference, its picture random from a seed, answered as bytes. */
  public static byte[] request(String model, SampleNetwork network, int batch, long seed) {
    Random random = new Random(seed);
    ByteBuffer pixels =
        ByteBuffer.allocate(batch * network.imageBytes()).order(ByteOrder.LITTLE_ENDIAN);
    while (pixels.hasRemaining()) {
      pixels.putFloat(random.nextFloat());
    }
    String json =
        String.format(
            Locale.ROOT,
            "{\"inputs\":[{\"name\":\"image\",\"shape\":[%d,%d,%d,%d],\"datatype\":\"FP32\","
                + "\"parameters\":{\"binary_data_size\":%d}}],"
                + "\"parameters\":{\"binary_data_output\":true}}",
            batch,
            network.channels(),
            network.side(),
            network.side(),
            pixels.capacity());
    return post(model, json, pixels.array());
  }

  /** A whole request of JSON and bytes. */
  public static byte[] post(String model, String json, byte[] elements) {
    byte[] head = head(model, json, elements.length);
    return ByteBuffer.allocate(head.length + elements.length).put(head).put(elements).array();
  }

  /** A request but for its elements. */
  static byte[] head(String model, String json, long elementBytes) {
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    byte[] head =
        ("POST /v2/models/"
                + model
                + "/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                + (text.length + elementBytes)
                + "\r\nInference-Header-Content-Length: "
                + text.length
                + "\r\n\r\n")
            .getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(head.length + text.length).put(head).put(text).array();
  }

  public Answer get(String path) throws IOException {
    String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    return send(request.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends whole requests, or a part of one. */
  public void write(byte[] request) throws IOException {
    write(request, request.length);
  }

  /** Sends the first bytes. */
  public void write(byte[] bytes, int count) throws IOException {
    out.write(bytes, 0, count);
    out.flush();
  }

  public Answer send(byte[] request) throws IOException {
    write(request);
    return read();
  }

  public Answer read() throws IOException {
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    Map<String, String> headers = new HashMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    int length = Integer.parseInt(headers.getOrDefault(LENGTH, "0"));
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("answer ends after " + body.length + " of " + length + " bytes");
    }
    return new Answer(status, headers, ByteBuffer.wrap(body));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(80);
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the server closed the connection");
      }
      line.append((char) next);
    }
    return line.toString().strip();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
