package io.prmalloc.kept;

import io.prmalloc.internal.os.FileReplacement;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file for each key.
 *
 * <p>Threading: any thread.
 */
final class DirectoryPlanStore implements PlanStore {

  // Readers need no lock, for a file is replaced by a rename. Writers hold a file lock from the
  // comparison to the rename; the system drops it if their process dies. No thread waits for it:
  // one that does not get it comes again later. The lock's file stays, since to delete it would let
  // two processes lock two files of one name.
  //
  // POSIX drops a process's lock when the process closes any handle of the file, so within a JVM
  // only one thread at a time may open it, by whatever path it came to the directory.
  //
  // Others may write in the directory. A pipe in the place of a plan, or of a lock, would be waited
  // for without an end. A symbolic link may lead to a file that they must not change, so a link is
  // read, as those of a ConfigMap are, and never written through.

  private static final Logger LOGGER = System.getLogger(DirectoryPlanStore.class.getName());

  private static final Set<Path> LOCKED_HERE = ConcurrentHashMap.newKeySet();

  private final Path directory;

  DirectoryPlanStore(Path directory) {
    this.directory = directory.toAbsolutePath().normalize();
  }

  private Path file(String key) {
    return directory.resolve(key + ".json");
  }

  @Override
  public Optional<byte[]> read(String key) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory.toString());
    }
    Path file = file(key);
    checkRegular(file);
    try (InputStream in = Files.newInputStream(file)) {
      return Optional.of(in.readNBytes(MAX_BYTES + 1));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  @Override
  public boolean replace(String key, Optional<byte[]> read, byte[] bytes) throws IOException {
    if (!Files.isWritable(directory) || Files.isSymbolicLink(file(key))) {
      return false;
    }
    Path lock = directory.toRealPath().resolve("." + key + ".lock");
    if (!LOCKED_HERE.add(lock)) {
      return false;
    }
    try {
      checkRegular(lock, LinkOption.NOFOLLOW_LINKS);
      return replaceLocked(lock, key, read, bytes);
    } finally {
      LOCKED_HERE.remove(lock);
    }
  }

  private static void checkRegular(Path file, LinkOption... links) throws IOException {
    if (Files.exists(file, links) && !Files.isRegularFile(file, links)) {
      throw new FileSystemException(file.toString(), null, "is no regular file");
    }
  }

  private boolean replaceLocked(Path lock, String key, Optional<byte[]> read, byte[] bytes)
      throws IOException {
    try (FileChannel channel =
            FileChannel.open(
                lock,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
        FileLock held = channel.tryLock()) {
      if (held == null) {
        return false;
      }
      admitWriters(lock);
      if (!isThere(key, read)) {
        return false;
      }
      FileReplacement.makeInPlace(
          file(key), made -> Files.write(made, bytes, StandardOpenOption.CREATE_NEW));
      return true;
    } catch (OverlappingFileLockException lockedByAnotherClassLoader) {
      return false;
    }
  }

  /**
   * Lets all users lock that may write in the directory: by the umask's permissions the first one's
   * lock would keep replicas of other users from publishing for good.
   */
  private static void admitWriters(Path lock) {
    try {
      Set<PosixFilePermission> wanted =
          EnumSet.copyOf(Files.getPosixFilePermissions(lock.getParent()));
      wanted.removeIf(permission -> permission.name().endsWith("_EXECUTE"));
      if (!wanted.equals(Files.getPosixFilePermissions(lock))) {
        Files.setPosixFilePermissions(lock, wanted);
      }
    } catch (IOException | UnsupportedOperationException another) {
      // The lock is another user's, whose process sets them, or there are no such permissions here.
      LOGGER.log(Level.DEBUG, "permissions of {0} stay: {1}", lock, another);
    }
  }

  private boolean isThere(String key, Optional<byte[]> read) throws IOException {
    Optional<byte[]> now = read(key);
    return now.isPresent() == read.isPresent()
        && (now.isEmpty() || Arrays.equals(now.get(), read.get()));
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return directory.toString();
  }
}
