package io.prmalloc.plan.exact;

/**
 * For every tensor the tensors that share a section with it, and for every section the tensors that
 * are alive.
 *
 * <p>Threading: immutable.
 */
final class Neighbours {

  // Both are flat arrays with the begin of each list beside them. Their length grows with how much
  // is alive at once, up to the square of the tensors: `isTooMany` asks before it is too late.

  private static final long MAX_LINKS = 60_000_000;
  private static final long MAX_MEMBERS = 20_000_000;

  private final int[] linkStart;
  private final int[] links;
  private final int[] memberStart;
  private final int[] members;

  /** For a problem that has not {@link #isTooMany too many}. */
  Neighbours(Problem problem) {
    int count = problem.count();
    int sections = problem.sectionCount();
    memberStart = new int[sections + 1];
    members = new int[(int) memberCount(problem)];
    linkStart = new int[count + 1];
    links = new int[(int) linkCount(problem)];
    // By section: those still alive of the section before, then those that begin.
    int[] alive = new int[count];
    int aliveCount = 0;
    int filled = 0;
    int linked = 0;
    for (int section = 0; section < sections; section++) {
      int kept = 0;
      for (int i = 0; i < aliveCount; i++) {
        if (problem.last(alive[i]) >= section) {
          alive[kept++] = alive[i];
        }
      }
      aliveCount = kept;
      for (int tensor = problem.bornFrom(section);
          tensor < problem.bornFrom(section + 1);
          tensor++) {
        alive[aliveCount++] = tensor;
      }
      memberStart[section] = filled;
      System.arraycopy(alive, 0, members, filled, aliveCount);
      filled += aliveCount;
      for (int tensor = problem.bornFrom(section);
          tensor < problem.bornFrom(section + 1);
          tensor++) {
        linkStart[tensor] = linked;
        for (int i = 0; i < aliveCount; i++) {
          if (alive[i] != tensor) {
            links[linked++] = alive[i];
          }
        }
        int later = problem.bornFrom(problem.last(tensor) + 1);
        for (int other = problem.bornFrom(section + 1); other < later; other++) {
          links[linked++] = other;
        }
      }
    }
    memberStart[sections] = filled;
    linkStart[count] = linked;
  }

  /** Whether the lists would take more than some 300 MB. */
  static boolean isTooMany(Problem problem) {
    return memberCount(problem) > MAX_MEMBERS || linkCount(problem) > MAX_LINKS;
  }

  private static long memberCount(Problem problem) {
    long sum = 0;
    for (int tensor = 0; tensor < problem.count(); tensor++) {
      sum += problem.last(tensor) - problem.first(tensor) + 1;
    }
    return sum;
  }

  /** Each pair counts twice: a tensor links to those that begin in its life, and they to it. */
  private static long linkCount(Problem problem) {
    long pairs = 0;
    for (int tensor = 0; tensor < problem.count(); tensor++) {
      pairs += problem.bornFrom(problem.last(tensor) + 1) - 1 - tensor;
    }
    return 2 * pairs;
  }

  /** Where a tensor's neighbours begin in {@link #link}; they end where the next tensor's begin. */
  int linkStart(int tensor) {
    return linkStart[tensor];
  }

  int link(int index) {
    return links[index];
  }

  /** Where a section's tensors begin in {@link #member}. */
  int memberStart(int section) {
    return memberStart[section];
  }

  int member(int index) {
    return members[index];
  }
}
