package io.prmalloc.internal.os;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** The real native calls, some of which a test makes fail; counts what is mapped. */
final class ScriptedCalls implements NativeCalls {

  private final NativeCalls real = Natives.calls();
  final Map<Integer, Integer> madviseErrors = new HashMap<>();
  int mmapError;
  int munmapError;
  int munmapsBeforeError;
  long mappedBytes;
  int fileError;
  long fileBytes;
  int openFiles;
  int fileMappings;
  int mostFileMappings = Integer.MAX_VALUE;

  @Override
  public int pageSizeBytes() {
    return real.pageSizeBytes();
  }

  @Override
  public long mmap(long lengthBytes) {
    if (mmapError != 0) {
      return -mmapError;
    }
    mappedBytes += lengthBytes;
    return real.mmap(lengthBytes);
  }

  @Override
  public long reserve(long lengthBytes) {
    if (mmapError != 0) {
      return -mmapError;
    }
    mappedBytes += lengthBytes;
    return real.reserve(lengthBytes);
  }

  @Override
  public int memoryFile(long lengthBytes) {
    if (fileError != 0) {
      return -fileError;
    }
    fileBytes = lengthBytes;
    openFiles++;
    fileMappings = 0;
    return real.memoryFile(lengthBytes);
  }

  @Override
  public int mapFile(int file, long address, long lengthBytes) {
    return fileMappings++ < mostFileMappings ? real.mapFile(file, address, lengthBytes) : ENOMEM;
  }

  @Override
  public int closeFile(int file) {
    openFiles--;
    return real.closeFile(file);
  }

  @Override
  public int munmap(long address, long lengthBytes) {
    if (munmapError != 0 && munmapsBeforeError-- == 0) {
      return munmapError;
    }
    mappedBytes -= lengthBytes;
    return real.munmap(address, lengthBytes);
  }

  @Override
  public int madvise(long address, long lengthBytes, int advice) {
    Integer error = madviseErrors.get(advice);
    return error != null ? error : real.madvise(address, lengthBytes, advice);
  }

  @Override
  public int mprotect(long address, long lengthBytes, int protection) {
    return real.mprotect(address, lengthBytes, protection);
  }

  @Override
  public long posixMemalign(long alignment, long bytes) {
    return real.posixMemalign(alignment, bytes);
  }

  @Override
  public void free(long address) {
    real.free(address);
  }

  @Override
  public long mallocUsableSize(long address) {
    return real.mallocUsableSize(address);
  }

  @Override
  public MallocCalls malloc(String libraryName) {
    return real.malloc(libraryName);
  }

  @Override
  public boolean mallocTrim() {
    return real.mallocTrim();
  }

  @Override
  public ResourceUsage usage(UsageScope scope) {
    return real.usage(scope);
  }

  @Override
  public long minorFaults(UsageScope scope) {
    return real.minorFaults(scope);
  }

  @Override
  public String errorText(int errorNumber) {
    return real.errorText(errorNumber);
  }

  @Override
  public ByteBuffer view(long address, long bytes) {
    return real.view(address, bytes);
  }

  @Override
  public long address(ByteBuffer buffer) {
    return real.address(buffer);
  }
}
