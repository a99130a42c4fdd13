import { OnnxGraph } from './onnx';
import type { Weight } from './weights';

/** Length of a vector. */
export const DIMENSIONS = 512;
const EMBEDDING_WIDTH = 256;
const HEADS = 4;
const EPSILON = 1e-6;
const MASKED = -1e9;

const ENCODER = 'Encoder_en/KonaTransformer/Encode/';
const APPLIED = `module_apply_default/${ENCODER}`;

type Weights = (name: string) => Weight;

/**
 * Writes the encoder as an ONNX model: two pre-norm transformer layers over doubled embeddings with sinusoid positions,
 * mean over the tokens, a tanh layer, unit length. Matrix products run on 8-bit integers (`DynamicQuantizeLinear` and
 * `MatMulInteger`, weights scaled per column). Inputs: `ids` [batch, length], `mask` [batch, length] with 1 for a token,
 * `positions` [length, 1]. Output: `vectors` [batch, 512].
 */
export const convert = (weights: ReadonlyMap<string, Weight>): Buffer => {
  const weight: Weights = (name) => {
    const found = weights.get(name);
    if (found === undefined) throw new Error(`the embedding weights lack ${name}`);
    return found;
  };
  const graph = new OnnxGraph();
  const ids = graph.input('ids', 'int64', ['batch', 'length']);
  const mask = graph.input('mask', 'float', ['batch', 'length']);
  const positions = graph.input('positions', 'float', ['length', 1]);

  const bias = attentionBias(graph, mask);
  const input = embedded(graph, weight, ids, positions);
  const first = layer(graph, weight, 0, input, bias);
  const second = layer(graph, weight, 1, first, bias);
  const vectors = pooled(graph, weight, second, mask);
  return graph.model(graph.node('Identity', [vectors]), ['batch', DIMENSIONS]);
};

/** 0 where attention may look, hugely negative on padding: [batch, 1, 1, length]. */
const attentionBias = (graph: OnnxGraph, mask: string): string => {
  const padding = graph.node('Sub', [graph.number(1), mask]);
  return graph.node('Unsqueeze', [graph.node('Mul', [padding, graph.number(MASKED)]), graph.integers(1, 2)]);
};

const embedded = (graph: OnnxGraph, weight: Weights, ids: string, positions: string): string => {
  const table = weight('module/Embeddings_en');
  const doubled = graph.constant(
    table.shape,
    table.values.map((value) => 2 * value),
  );
  const frequencies = weight(`${APPLIED}TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`);
  const angles = graph.node('Mul', [positions, graph.constant(frequencies.shape, frequencies.values)]);
  const signal = graph.node('Concat', [graph.node('Sin', [angles]), graph.node('Cos', [angles])], { axis: 1 });
  return graph.node('Add', [graph.node('Gather', [doubled, ids]), signal]);
};

const layer = (graph: OnnxGraph, weight: Weights, index: 0 | 1, input: string, bias: string): string => {
  const scope = `${APPLIED}Layer_${index}/TransformerLayer/`;
  const attended = attention(
    graph,
    weight,
    index,
    normalised(graph, weight, `${scope}layer_prepostprocess/`, input),
    bias,
  );
  const residual =
    index === 0
      ? linear(
          graph,
          input,
          weight(`${scope}dense/kernel/ConcatPartitions/concat`),
          weight(`${scope}dense/bias/ConcatPartitions/concat`),
        )
      : input;
  const sum = graph.node('Add', [attended, residual]);

  const stack = `${APPLIED}TransformerStack/Layer_${index}/TransformerLayer/FFN/`;
  const normal = normalised(graph, weight, `${scope}FFN/layer_prepostprocess/`, sum);
  const hidden = graph.node('Relu', [
    linear(
      graph,
      normal,
      weight(`${stack}conv1/Tensordot/Reshape_1`),
      weight(`${scope}FFN/conv1/bias/ConcatPartitions/concat`),
    ),
  ]);
  return graph.node('Add', [
    linear(
      graph,
      hidden,
      weight(`${stack}conv2/Tensordot/Reshape_1`),
      weight(`${scope}FFN/conv2/bias/ConcatPartitions/concat`),
    ),
    sum,
  ]);
};

const normalised = (graph: OnnxGraph, weight: Weights, scope: string, input: string): string => {
  const scale = weight(`${scope}layer_norm/layer_norm_scale/ConcatPartitions/concat`);
  const shift = weight(`${scope}layer_norm/layer_norm_bias/ConcatPartitions/concat`);
  return graph.node(
    'LayerNormalization',
    [input, graph.constant(scale.shape, scale.values), graph.constant(shift.shape, shift.values)],
    { axis: -1, epsilon: { float: EPSILON } },
  );
};

const attention = (graph: OnnxGraph, weight: Weights, index: 0 | 1, input: string, bias: string): string => {
  const width = index === 0 ? EMBEDDING_WIDTH : DIMENSIONS;
  const head = width / HEADS;
  const kernels = `module/${ENCODER}Layer_${index}/TransformerLayer/MultiheadAttention/`;
  const biases = `${APPLIED}Layer_${index}/TransformerLayer/MultiheadAttention/`;
  const joint = linear(
    graph,
    input,
    matrix(weight(`${kernels}qkv_transform_single/kernel/part_0`)),
    weight(`${biases}qkv_transform_single/bias/ConcatPartitions/concat`),
  );
  const [query, key, value] = graph
    .nodeOf(3, 'Split', [joint, graph.integers(width, width, width)], { axis: 2 })
    .map((part) => graph.node('Reshape', [part, graph.integers(0, 0, HEADS, head)])) as [string, string, string];

  const scaled = graph.node('Mul', [
    graph.node('Transpose', [query], { perm: [0, 2, 1, 3] }),
    graph.number(head ** -0.5),
  ]);
  const scores = graph.node('Add', [
    graph.node('MatMul', [scaled, graph.node('Transpose', [key], { perm: [0, 2, 3, 1] })]),
    bias,
  ]);
  const mixed = graph.node('MatMul', [
    graph.node('Softmax', [scores], { axis: -1 }),
    graph.node('Transpose', [value], { perm: [0, 2, 1, 3] }),
  ]);
  const together = graph.node('Reshape', [
    graph.node('Transpose', [mixed], { perm: [0, 2, 1, 3] }),
    graph.integers(0, 0, width),
  ]);
  return linear(
    graph,
    together,
    matrix(weight(`${kernels}output_transform_single/kernel/part_0`)),
    weight(`${biases}output_transform_single/bias/ConcatPartitions/concat`),
  );
};

/** Mean over the tokens, a tanh layer, unit length. */
const pooled = (graph: OnnxGraph, weight: Weights, input: string, mask: string): string => {
  const tokens = graph.node('Unsqueeze', [mask, graph.integers(2)]);
  const sum = graph.node('ReduceSum', [graph.node('Mul', [input, tokens]), graph.integers(1)], { keepdims: 0 });
  const count = graph.node('ReduceSum', [mask, graph.integers(1)], { keepdims: 1 });
  const mean = graph.node('Div', [sum, count]);
  const kernel = weight('module/Encoder_en/hidden_layers/tanh_layer_0/weights');
  const shift = weight('module/Encoder_en/hidden_layers/tanh_layer_0/bias');
  const dense = graph.node('Add', [
    graph.node('MatMul', [mean, graph.constant(kernel.shape, kernel.values)]),
    graph.constant(shift.shape, shift.values),
  ]);
  const hidden = graph.node('Tanh', [dense]);
  const length = graph.node('Sqrt', [
    graph.node('ReduceSum', [graph.node('Mul', [hidden, hidden]), graph.integers(1)], { keepdims: 1 }),
  ]);
  return graph.node('Div', [hidden, length]);
};

/** `input x kernel + bias` on 8-bit integers. */
const linear = (graph: OnnxGraph, input: string, kernel: Weight, bias: Weight): string => {
  const { values, scales } = quantised(kernel);
  const [small, scale, zero] = graph.nodeOf(3, 'DynamicQuantizeLinear', [input]) as [string, string, string];
  const product = graph.node('MatMulInteger', [small, graph.constant(kernel.shape, values), zero]);
  const factors = graph.node('Mul', [scale, graph.constant([scales.length], scales)]);
  return graph.node('Add', [
    graph.node('Mul', [graph.node('Cast', [product], { to: 1 }), factors]),
    graph.constant(bias.shape, bias.values),
  ]);
};

/** Signed 8-bit values and the scale of each column. Plain loops: this is five million numbers. */
const quantised = ({ shape, values }: Weight): { values: Int8Array; scales: Float32Array } => {
  const columns = shape.at(-1) as number;
  const scales = new Float32Array(columns);
  for (let index = 0; index < values.length; index += 1) {
    const scale = Math.abs(values[index] as number) / 127;
    if (scale > (scales[index % columns] as number)) scales[index % columns] = scale;
  }
  const small = new Int8Array(values.length);
  for (let index = 0; index < values.length; index += 1)
    small[index] = Math.round((values[index] as number) / ((scales[index % columns] as number) || 1));
  return { values: small, scales };
};

/** A 1x1 convolution kernel as the matrix it is. */
const matrix = ({ shape, values }: Weight): Weight => ({ shape: shape.slice(-2), values });
