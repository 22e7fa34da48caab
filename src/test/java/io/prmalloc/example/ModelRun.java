package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import io.prmalloc.example.model.TensorBytes;
import io.prmalloc.onnxruntime.Inference;
import java.util.List;

/**
 * The tensors of one request: fill the inputs, run once, read the outputs, close.
 *
 * <p>Threading: one thread at a time.
 */
interface ModelRun extends AutoCloseable {

  /** An input that the request has. */
  TensorBytes input(String name);

  /** Runs the model on the inputs. */
  void run() throws OrtException;

  /** What came out, in the order that was asked for. */
  List<TensorBytes> outputs();

  /** Gives the memory of all tensors back. Nothing the second time. */
  @Override
  void close();

  /** A run into outputs whose shapes are known before. */
  record Pinned(Inference inference) implements ModelRun {

    @Override
    public TensorBytes input(String name) {
      return TensorBytes.of(inference.input(name));
    }

    @Override
    public void run() throws OrtException {
      inference.run();
    }

    @Override
    public List<TensorBytes> outputs() {
      return inference.outputs().stream().map(TensorBytes::of).toList();
    }

    @Override
    public void close() {
      inference.close();
    }
  }
}
