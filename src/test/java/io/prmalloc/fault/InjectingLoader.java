package io.prmalloc.fault;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Loads the project's classes again, with a call of {@link InjectionPoints} at each point where a
 * fault may be injected.
 *
 * <p>Threading: as class loaders.
 */
final class InjectingLoader extends ClassLoader {

  // Points are:
  //
  //   allocation   after `new`, before arrays, before lambdas and concatenations of strings, and
  //                before calls of the JDK that are known to take memory (boxing, collections,
  //                streams, views of buffers, copies of arrays, the start of threads)
  //   entry        the first instruction of each method, constructors and lambdas included
  //
  // Left out are:
  //
  //   class initialisers   an error there is the class's for good: that the paths need no class
  // that
  //                        is not initialised yet is another test's business. Each scenario runs
  //                        once before anything is injected, so methods that initialisers call are
  //                        not reached any more either
  //   exceptions           what is thrown while something is thrown hides it, and tells of nothing
  //                        else
  //   annotations, tests   nobody runs the ones, and the others are the users
  //   flight events        the recorder does not run here

  private static final String OURS = "io.prmalloc.";
  private static final String TESTS = "io.prmalloc.fault.";
  private static final String EVENTS = "io.prmalloc.internal.jfr.";
  private static final String POINTS = Type.getInternalName(InjectionPoints.class);

  /** One class for both sides. */
  private static final Set<String> SHARED =
      Set.of(FaultScenario.class.getName(), InjectionPoints.class.getName());

  /** Methods of the JDK that take memory of the heap, by name. */
  private static final Set<String> TAKES_MEMORY =
      Set.of(
          "add",
          "addAll",
          "addFirst",
          "addLast",
          "allocate",
          "allocateDirect",
          "clone",
          "collect",
          "compute",
          "computeIfAbsent",
          "concat",
          "copyOf",
          "copyOfRange",
          "duplicate",
          "entrySet",
          "execute",
          "filter",
          "flatMap",
          "format",
          "formatted",
          "iterator",
          "keySet",
          "map",
          "mapToInt",
          "mapToLong",
          "mapToObj",
          "merge",
          "newCondition",
          "of",
          "offer",
          "ofNullable",
          "push",
          "put",
          "putAll",
          "putIfAbsent",
          "slice",
          "sorted",
          "start",
          "stream",
          "toArray",
          "toList",
          "toString",
          "values",
          "valueOf");

  InjectingLoader(ClassLoader parent) {
    super(parent);
  }

  /** Whether a class has points. */
  static boolean isInstrumented(String name) {
    return name.startsWith(OURS) && !name.startsWith(TESTS) && !name.startsWith(EVENTS);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS) || isShared(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : findClass(name);
    }
  }

  private static boolean isShared(String name) {
    int nested = name.indexOf('$');
    return SHARED.contains(nested < 0 ? name : name.substring(0, nested));
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      byte[] loaded = isInstrumented(name) ? instrument(bytes) : bytes;
      return defineClass(name, loaded, 0, loaded.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  private static byte[] instrument(byte[] bytes) {
    ClassReader reader = new ClassReader(bytes);
    if (reader.getSuperName().endsWith("Exception") || reader.getSuperName().endsWith("Error")) {
      return bytes;
    }
    ClassWriter writer = new ClassWriter(reader, 0);
    reader.accept(new Instrumented(writer), 0);
    return writer.toByteArray();
  }

  private static final class Instrumented extends ClassVisitor {
    Instrumented(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
      return name.equals("<clinit>") ? next : new Points(next);
    }
  }

  private static final class Points extends MethodVisitor {
    Points(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    private void point(String method) {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, method, "()V", false);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      point("entry");
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      if (opcode == Opcodes.ANEWARRAY) {
        point("allocation");
      }
      super.visitTypeInsn(opcode, type);
      if (opcode == Opcodes.NEW) {
        // Not before: stack maps name a new object by where it was made.
        point("allocation");
      }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
      if (opcode == Opcodes.NEWARRAY) {
        point("allocation");
      }
      super.visitIntInsn(opcode, operand);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
      point("allocation");
      super.visitMultiANewArrayInsn(descriptor, dimensions);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String name, String descriptor, Handle bootstrap, Object... bootstrapArguments) {
      point("allocation");
      super.visitInvokeDynamicInsn(name, descriptor, bootstrap, bootstrapArguments);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      if (TAKES_MEMORY.contains(name) && (owner.startsWith("java/") || owner.startsWith("["))) {
        point("allocation");
      }
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }
  }
}
