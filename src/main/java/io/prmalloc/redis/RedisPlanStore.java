package io.prmalloc.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.prmalloc.kept.PlanStore;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Plans in Redis: a string for each key, {@code prmalloc:plan:KEY}, in the format of {@code
 * KeptPlan.save}.
 *
 * <p>A key is replaced by a script, which compares what is there, and so by one command, in a
 * cluster too. Anything else that is under a key counts as no bytes. A connection is made when it
 * is first needed, and anew after a failure.
 *
 * <p>Threading: any thread; one at a time asks.
 */
public final class RedisPlanStore implements PlanStore {

  /** How long a connection or an answer is waited for, where the address says nothing. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  /** The fewest that Lettuce takes. */
  private static final int THREADS = 2;

  private static final Logger LOGGER = System.getLogger(RedisPlanStore.class.getName());

  private static final String PREFIX = "prmalloc:plan:";

  private static final String NONE = "none";

  /** The errors of a server that is read-only, and of a user without the right to write. */
  private static final Pattern READ_ONLY =
      Pattern.compile("(READONLY|NOPERM)\\b.*", Pattern.DOTALL);

  // The value that was read is compared by its hash: a few bytes are sent instead of all. Of a
  // value
  // that is too long for a plan only the beginning was read, so the beginnings are compared.
  private static final String REPLACE =
      """
      local type = redis.call('TYPE', KEYS[1])['ok']
      local now = type
      if type == 'string' then
        now = redis.sha1hex(redis.call('GETRANGE', KEYS[1], 0, ARGV[3]))
      elseif type ~= 'none' then
        now = redis.sha1hex('')
      end
      if now ~= ARGV[1] then
        return 0
      end
      redis.call('SET', KEYS[1], ARGV[2])
      return 1
      """;

  private final RedisURI uri;
  private final ClientResources resources;
  private final RedisClient client;

  /** Under the lock; null while there is none. */
  private StatefulRedisConnection<byte[], byte[]> connection;

  private RedisPlanStore(RedisURI uri) {
    this.uri = uri;
    this.resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(THREADS)
            .computationThreadPoolSize(THREADS)
            .build();
    this.client = RedisClient.create(resources, uri);
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(false)
            .socketOptions(SocketOptions.builder().connectTimeout(connectTimeout(uri)).build())
            .build());
  }

  /** In whole milliseconds, of which Netty takes 0 for no end. */
  private static Duration connectTimeout(RedisURI uri) {
    return Duration.ofMillis(Math.max(1, uri.getTimeout().toMillis()));
  }

  /**
   * A store that has not asked for anything yet, not even whether there is one.
   *
   * <p>No message of an exception has what stands before the last {@code @}: it may be a password.
   *
   * <p>Threading: any thread.
   *
   * @param uri as Lettuce reads it: {@code redis://user:password@host:6379/0}, {@code rediss://}
   *     for TLS, {@code ?timeout=500ms} for how long an answer is waited for: a whole number of
   *     {@code ns}, {@code us}, {@code ms}, {@code s}, {@code m}, {@code h} or {@code d},
   *     milliseconds where it has no unit, more than 0 and at most some 24 days; else two seconds
   * @throws IllegalArgumentException if that is none
   */
  public static RedisPlanStore at(String uri) {
    return new RedisPlanStore(RedisAddress.parse(uri, TIMEOUT));
  }

  @Override
  public Optional<byte[]> read(String key) throws IOException {
    byte[] name = name(key);
    return ask(
        redis ->
            switch (redis.type(name)) {
              case NONE -> Optional.empty();
              case "string" -> Optional.of(redis.getrange(name, 0, MAX_BYTES));
              default -> Optional.of(new byte[0]);
            });
  }

  @Override
  public boolean replace(String key, Optional<byte[]> read, byte[] bytes) throws IOException {
    byte[][] keys = {name(key)};
    byte[] expected = utf8(read.map(RedisPlanStore::sha1).orElse(NONE));
    byte[] last = utf8(Integer.toString(MAX_BYTES));
    try {
      Boolean done =
          ask(redis -> redis.eval(REPLACE, ScriptOutputType.BOOLEAN, keys, expected, bytes, last));
      return done;
    } catch (IOException e) {
      if (READ_ONLY.matcher(String.valueOf(e.getMessage())).matches()) {
        // The connection was closed: behind the address there may be another primary by now.
        LOGGER.log(Level.DEBUG, "the plan store {0} is for reading only: {1}", this, e);
        return false;
      }
      throw e;
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // how it was closed does not matter
  private synchronized <T> T ask(Function<RedisCommands<byte[], byte[]>, T> question)
      throws IOException {
    boolean done = false;
    try {
      if (connection == null) {
        connection = client.connect(ByteArrayCodec.INSTANCE);
      }
      T answer = question.apply(connection.sync());
      done = true;
      return answer;
    } catch (RedisException e) {
      throw new IOException(e.getMessage(), e);
    } finally {
      if (!done && connection != null) {
        connection.closeAsync();
        connection = null;
      }
    }
  }

  private static byte[] name(String key) {
    return utf8(PREFIX + key);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String sha1(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-1", e);
    }
  }

  /**
   * {@inheritDoc} Ends the threads of the connection.
   *
   * <p>Threading: any thread.
   */
  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the threads are daemons, not waited for
  public synchronized void close() {
    client.shutdown(0, 1, TimeUnit.SECONDS);
    resources.shutdown(0, 1, TimeUnit.SECONDS);
  }

  /** The address, without a password. Threading: any thread. */
  @Override
  public String toString() {
    return uri.toString();
  }
}
