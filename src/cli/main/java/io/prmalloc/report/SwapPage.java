package io.prmalloc.report;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.swap.Swapping;
import io.prmalloc.trace.swap.Timeline;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Draws a swapped step: a lane for computing, a lane for the disk, the bytes alive as a curve.
 *
 * <p>Threading: any thread.
 */
public final class SwapPage {

  // As with PlanPage, plain arrays go into the page, which draws them on a canvas.

  private SwapPage() {}

  /** The page. Threading: any thread. */
  public static String html(Swapping swapping) {
    return Pages.fill("swap.html", data(swapping));
  }

  private static String data(Swapping swapping) {
    Timeline timeline = swapping.timeline();
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("name", swapping.name());
          json.writeStringField("mode", swapping.options().mode().toString());
          json.writeStringField("allocator", swapping.options().allocator().label());
          json.writeNumberField("forwardOps", swapping.forwardOps());
          json.writeNumberField("total", swapping.run().totalMillis());
          json.writeNumberField("stall", swapping.run().stallMillis());
          json.writeNumberField("peak", swapping.run().peakBytes());
          json.writeNumberField("out", swapping.run().bytesOut());
          json.writeNumberField("in", swapping.run().bytesIn());
          json.writeNumberField("budget", swapping.options().budgetBytes().orElse(-1));
          List<Timeline.Op> ops = timeline.ops();
          json.writeArrayFieldStart("opNames");
          for (Timeline.Op op : ops) {
            json.writeString(op.name());
          }
          json.writeEndArray();
          writeNumbers(json, "opStart", ops, Timeline.Op::startMillis);
          writeNumbers(json, "opEnd", ops, Timeline.Op::endMillis);
          writeNumbers(json, "opComputeStart", ops, Timeline.Op::computeStartMillis);
          writeNumbers(json, "opCompute", ops, Timeline.Op::computeMillis);
          List<Timeline.Transfer> transfers = timeline.transfers();
          json.writeArrayFieldStart("tensors");
          for (Timeline.Transfer transfer : transfers) {
            json.writeString(transfer.tensor());
          }
          json.writeEndArray();
          writeNumbers(json, "isOut", transfers, transfer -> transfer.out() ? 1 : 0);
          writeNumbers(json, "bytes", transfers, Timeline.Transfer::bytes);
          writeNumbers(json, "diskStart", transfers, Timeline.Transfer::startMillis);
          writeNumbers(json, "diskEnd", transfers, Timeline.Transfer::endMillis);
          writeNumbers(json, "liveAt", timeline.lives(), Timeline.Live::millis);
          writeNumbers(json, "live", timeline.lives(), Timeline.Live::bytes);
          json.writeEndObject();
        });
  }

  private static <T> void writeNumbers(
      JsonGenerator json, String key, List<T> things, ToDoubleFunction<T> number)
      throws IOException {
    json.writeArrayFieldStart(key);
    for (T thing : things) {
      double value = number.applyAsDouble(thing);
      // Microseconds are more than a picture shows, and the page is half as large.
      BigDecimal short_ = BigDecimal.valueOf(Math.round(value * 1000) / 1000.0);
      json.writeNumber(short_.stripTrailingZeros().round(MathContext.DECIMAL64).toPlainString());
    }
    json.writeEndArray();
  }
}
