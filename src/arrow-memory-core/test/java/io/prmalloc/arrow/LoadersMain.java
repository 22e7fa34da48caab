package io.prmalloc.arrow;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;

/** Applications in one JVM, each with these jars in a class loader of its own. */
public final class LoadersMain {

  private LoadersMain() {}

  /**
   * Has each print what {@link RootMain} prints.
   *
   * @param arguments for each application a property of the system, {@code name=value}, which is
   *     set while it runs
   */
  public static void main(String[] arguments) throws Exception {
    URL[] places = classPath();
    for (String property : arguments) {
      int equals = property.indexOf('=');
      String name = property.substring(0, equals);
      System.setProperty(name, property.substring(equals + 1));
      try (URLClassLoader own = new URLClassLoader(places, ClassLoader.getPlatformClassLoader())) {
        Class<?> main = own.loadClass(RootMain.class.getName());
        main.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        System.out.println();
      }
      System.clearProperty(name);
    }
  }

  private static URL[] classPath() throws MalformedURLException {
    List<URL> places = new ArrayList<>();
    StringTokenizer paths =
        new StringTokenizer(System.getProperty("java.class.path"), File.pathSeparator);
    while (paths.hasMoreTokens()) {
      places.add(new File(paths.nextToken()).toURI().toURL());
    }
    return places.toArray(URL[]::new);
  }
}
