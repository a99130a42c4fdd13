import { EMBEDDING_WIDTH, DIMENSIONS, HEADS, type Matrix, modelIn } from './model';
import type { Weight } from './weights';

const ENCODER = 'Encoder_en/KonaTransformer/Encode/';
const APPLIED = `module_apply_default/${ENCODER}`;

/** The float weights as the encoder uses them: those of large products on 8-bit integers, scaled per column. */
export const convert = (weights: ReadonlyMap<string, Weight>): Uint8Array<ArrayBuffer> => {
  const weight = (name: string): Float32Array => {
    const found = weights.get(name);
    if (found === undefined) throw new Error(`the embedding weights lack ${name}`);
    return found.values;
  };
  const { bytes, floats, matrices } = modelIn();
  floats.pieces.set(weight('module/Embeddings_en').map((value) => 2 * value));
  floats.frequencies.set(weight(`${APPLIED}TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`));

  for (const index of [0, 1] as const) {
    const layer = `${APPLIED}Layer_${index}/TransformerLayer/`;
    const stack = `${APPLIED}TransformerStack/Layer_${index}/TransformerLayer/FFN/`;
    const kernels = `module/${ENCODER}Layer_${index}/TransformerLayer/MultiheadAttention/`;
    const part = (scope: string): Float32Array => weight(`${layer}${scope}/ConcatPartitions/concat`);

    floats[`attention-${index}-scale`].set(part('layer_prepostprocess/layer_norm/layer_norm_scale'));
    floats[`attention-${index}-shift`].set(part('layer_prepostprocess/layer_norm/layer_norm_bias'));
    floats[`widening-${index}-scale`].set(part('FFN/layer_prepostprocess/layer_norm/layer_norm_scale'));
    floats[`widening-${index}-shift`].set(part('FFN/layer_prepostprocess/layer_norm/layer_norm_bias'));

    const attention = matrices[`attention-${index}`];
    quantise(
      attention,
      weight(`${kernels}qkv_transform_single/kernel/part_0`),
      part('MultiheadAttention/qkv_transform_single/bias'),
    );
    scaleQueries(attention, index === 0 ? EMBEDDING_WIDTH : DIMENSIONS);
    quantise(
      matrices[`attended-${index}`],
      weight(`${kernels}output_transform_single/kernel/part_0`),
      part('MultiheadAttention/output_transform_single/bias'),
    );
    quantise(matrices[`widening-${index}`], weight(`${stack}conv1/Tensordot/Reshape_1`), part('FFN/conv1/bias'));
    const narrowing = [weight(`${stack}conv2/Tensordot/Reshape_1`), part('FFN/conv2/bias')] as const;
    if (index === 0) {
      quantise(matrices['residual-0'], part('dense/kernel'), part('dense/bias'));
      quantise(matrices['narrowing-0'], ...narrowing);
    } else {
      floats['narrowing-1'].set(narrowing[0]);
      floats['narrowing-1-bias'].set(narrowing[1]);
    }
  }

  floats.last.set(weight('module/Encoder_en/hidden_layers/tanh_layer_0/weights'));
  floats['last-bias'].set(weight('module/Encoder_en/hidden_layers/tanh_layer_0/bias'));
  return bytes;
};

/** Signed 8-bit values and the scale of each column. Plain loops: this is four million numbers. */
const quantise = ({ values: small, scales, biases }: Matrix, values: Float32Array, bias: Float32Array): void => {
  const columns = scales.length;
  for (let index = 0; index < values.length; index += 1) {
    const scale = Math.abs(values[index] as number) / 127;
    if (scale > (scales[index % columns] as number)) scales[index % columns] = scale;
  }
  for (let index = 0; index < values.length; index += 1)
    small[index] = Math.round((values[index] as number) / ((scales[index % columns] as number) || 1));
  biases.set(bias);
};

/** Attention divides its scores by the root of a head's width, which is done to the queries: the first third of the columns. */
const scaleQueries = ({ scales, biases }: Matrix, width: number): void => {
  const factor = (width / HEADS) ** -0.5;
  for (let column = 0; column < width; column += 1) {
    scales[column] = (scales[column] as number) * factor;
    biases[column] = (biases[column] as number) * factor;
  }
};
