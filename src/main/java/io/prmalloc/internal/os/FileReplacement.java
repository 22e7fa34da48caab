package io.prmalloc.internal.os;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/**
 * Writes a file as a whole or not at all: the new file is written beside it and then replaces it.
 *
 * <p>Threading: stateless.
 */
public final class FileReplacement {

  // The new file is made in a directory that only its owner may enter: so no user whom the replaced
  // file refused reads it, whatever the mode that it begins with.

  /** More links than this in a row are a circle, as for the system itself. */
  private static final int MAX_LINKS = 40;

  private FileReplacement() {}

  /** Makes a file. */
  @FunctionalInterface
  public interface Content {
    /**
     * Threading: one thread.
     *
     * @param newFile not there yet
     */
    void write(Path newFile) throws IOException;
  }

  /**
   * Makes a file, or puts another in its place: a reader finds the old one or the new one, and
   * never a part.
   *
   * <p>What is replaced keeps its permissions, its group and its owner as far as the system lets
   * the caller set them; where the group cannot be set it gets no permissions. A symbolic link
   * stays, and the file that it leads to is replaced. Of several hard links only this one leads to
   * the new file. A file that was not there has the permissions that any new file of this process
   * has: on POSIX systems 0666 less the umask.
   *
   * <p>Threading: any thread; of several that write one file the last wins.
   *
   * @throws IOException if it cannot be written, or if there is a directory, a device or a pipe at
   *     its place; what was there is as before
   */
  public static void make(Path file, Content content) throws IOException {
    replace(file, target(file.toAbsolutePath()), content);
  }

  /**
   * As {@link #make}, but for a directory in which others may write as well: nothing outside of it
   * is changed, whatever they put there.
   *
   * <p>Threading: as {@link #make}.
   *
   * @throws IOException also if there is a symbolic link at the file's place
   */
  public static void makeInPlace(Path file, Content content) throws IOException {
    replace(file, file.toAbsolutePath(), content);
  }

  /**
   * Tries whether {@link #make} could begin now: for work that takes long before there is a
   * content.
   *
   * <p>Threading: any thread.
   *
   * @throws IOException if it could not
   */
  public static void check(Path file) throws IOException {
    Path place = target(file.toAbsolutePath());
    isThere(file, place);
    Files.delete(directoryBeside(place));
  }

  /**
   * Where {@link #make} puts a file: symbolic links are followed.
   *
   * <p>Threading: any thread.
   *
   * @throws IOException if its directory is not there
   */
  public static Path place(Path file) throws IOException {
    Path place = target(file.toAbsolutePath());
    return place.getParent().toRealPath().resolve(place.getFileName());
  }

  /**
   * An error of {@link #make} that names the file, and not one beside it or none.
   *
   * <p>Threading: any thread.
   *
   * @param file as the user typed it
   * @param failure what {@link #make} threw
   */
  public static FileSystemException naming(Path file, IOException failure) {
    return new FileSystemException(file.toString(), null, reason(failure));
  }

  private static String reason(IOException failure) {
    if (failure instanceof AccessDeniedException) {
      return "may not be written";
    }
    String reason =
        failure instanceof FileSystemException file ? file.getReason() : failure.getMessage();
    return reason == null ? "cannot be written" : reason;
  }

  private static boolean isThere(Path file, Path place) throws IOException {
    boolean isThere = Files.exists(place, LinkOption.NOFOLLOW_LINKS);
    if (isThere && !Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileSystemException(file.toString(), null, "is no regular file");
    }
    return isThere;
  }

  private static Path directoryBeside(Path place) throws IOException {
    return Files.createTempDirectory(place.getParent(), "." + place.getFileName());
  }

  private static void replace(Path file, Path place, Content content) throws IOException {
    boolean isThere = isThere(file, place);
    Path directory = directoryBeside(place);
    Path beside = directory.resolve(place.getFileName());
    try {
      content.write(beside);
      if (isThere) {
        keepAttributes(place, beside);
      }
      Files.move(beside, place, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(beside);
      Files.delete(directory);
    }
  }

  /** Where symbolic links lead; the file itself need not be there. */
  private static Path target(Path file) throws IOException {
    Path target = file;
    for (int links = 0; Files.isSymbolicLink(target); links++) {
      if (links == MAX_LINKS) {
        throw new FileSystemException(
            file.toString(), null, "is a symbolic link to one of more than " + MAX_LINKS);
      }
      target = target.resolveSibling(Files.readSymbolicLink(target));
    }
    return target;
  }

  private static void keepAttributes(Path old, Path made) throws IOException {
    PosixFileAttributeView view =
        Files.getFileAttributeView(made, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    if (view == null) {
      return;
    }
    PosixFileAttributes wanted =
        Files.readAttributes(old, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    PosixFileAttributes now = view.readAttributes();
    Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
    permissions.addAll(wanted.permissions());
    if (!now.group().equals(wanted.group()) && !isDone(() -> view.setGroup(wanted.group()))) {
      // What one group might do is not for another.
      permissions.removeIf(permission -> permission.name().startsWith("GROUP_"));
    }
    view.setPermissions(permissions);
    if (!now.owner().equals(wanted.owner())) {
      isDone(() -> view.setOwner(wanted.owner()));
    }
  }

  private interface Change {
    void run() throws IOException;
  }

  /** Whether the system let the caller do it: most may not give files away. */
  private static boolean isDone(Change change) {
    try {
      change.run();
      return true;
    } catch (IOException refused) {
      return false;
    }
  }
}
