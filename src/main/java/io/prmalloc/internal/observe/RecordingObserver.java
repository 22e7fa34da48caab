package io.prmalloc.internal.observe;

import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.recording.Recorder;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingOptions;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Hands a pool's events to a recorder. Threading: any thread. */
final class RecordingObserver implements PoolObserver {

  private final Recorder recorder;

  /**
   * Begins to record.
   *
   * @param over given this observer, by the recorder's thread, when it has nothing more to record
   * @throws java.io.UncheckedIOException if the file is there already or cannot be written
   */
  RecordingObserver(Path file, RecordingOptions options, Consumer<PoolObserver> over) {
    this.recorder = Recorder.start(file, options, () -> over.accept(this));
  }

  Recording recording() {
    return recorder;
  }

  @Override
  public long allocated(long bytes, long alignment) {
    return recorder.allocated(bytes, alignment);
  }

  @Override
  public void released(long ticket) {
    recorder.released(ticket);
  }

  @Override
  public long stepOpened() {
    return recorder.stepOpened();
  }

  @Override
  public void stepClosed(long ticket) {
    recorder.stepClosed(ticket);
  }

  @Override
  public void poolClosed() {
    recorder.close();
  }
}
