package io.prmalloc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * No library is opened by JNA's plain methods, tests included. These make its symbols visible to
 * every library that is loaded later. If a malloc library defines operators new and delete, that
 * breaks an inference engine in the same process, at the latest when the JVM ends.
 */
@ArchTag("jdk-independent")
@AnalyzeClasses(packages = "io.prmalloc", importOptions = NativeLibrariesTest.NamesJna.class)
class NativeLibrariesTest {

  /** Of whatever calls these methods, the file names their class; to read all files takes long. */
  static final class NamesJna implements ImportOption {
    @Override
    public boolean includes(Location location) {
      try (InputStream file = location.asURI().toURL().openStream()) {
        return new String(file.readAllBytes(), StandardCharsets.ISO_8859_1)
            .contains("com/sun/jna/Native");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final String WHY = "libraries are opened with LoadedLibrary.OPEN_LOCAL";

  @ArchTest
  static final ArchRule LIBRARIES_ARE_OPENED_FOR_ONE_USER =
      noClasses()
          .should()
          .callMethod(NativeLibrary.class, "getInstance", String.class)
          .orShould()
          .callMethod(NativeLibrary.class, "getInstance", String.class, ClassLoader.class)
          .orShould()
          .callMethod(Native.class, "register", String.class)
          .orShould()
          .callMethod(Native.class, "load", String.class, Class.class)
          .because(WHY);
}
